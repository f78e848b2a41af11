import { lazy, Suspense, useId, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { lineCount } from '../parts/excerpt'
import { Passage, Pieces } from '../reading/Passage'
import { End, Unopened } from '../reading/ReadBox'
import { useReading } from '../reading/reading'
import { folded, isPlain } from './folding'
import { attachedOf } from './images'
import { text as words } from './text'

// It is large and few pages need it. It is fetched beside the question, and the plain text is there
// until it has come.
const fetched = import('./Markdown').then(
  (loaded) => ({ default: loaded.Markdown }),
  () => ({ default: Plain }),
)
const Markdown = lazy(() => fetched)

/** What is shown if it never comes. */
function Plain({ text }: { readonly text: string }) {
  return <Pieces text={text} />
}

interface Props {
  readonly text: string
  readonly level: 2 | 3
  /** Whether a long one is folded. */
  readonly folds?: boolean
}

/** Parsing more would be felt; it is shown as it was written. */
const LONGEST = 100_000

/** What a workflow or a program asks, as Markdown. A long prompt is folded. */
export function PromptText({ text: prompt, level, folds = true }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { text, images } = useMemo(() => attachedOf(prompt), [prompt])
  const head = useMemo(() => (folds ? folded(text) : null), [text, folds])
  if (text.length > LONGEST) {
    return (
      <>
        <Passage text={text} />
        <End />
      </>
    )
  }
  const shown = isOpen || head === null ? text : head
  return (
    <>
      {isPlain(text) ? (
        <>
          <div className="md">
            <Passage bare text={shown} />
          </div>
          {shown === text && <End />}
        </>
      ) : (
        <Suspense fallback={<Unread text={shown} />}>
          <div className="md">
            <Markdown {...{ text: shown, images, level }} />
          </div>
          {/* Only now: where the end is depends on what is drawn before it. */}
          {shown === text && <End />}
        </Suspense>
      )}
      {shown !== text && (
        <Unopened open={() => setOpen(true)}>{words.showAll(lineCount(text))}</Unopened>
      )}
    </>
  )
}

/** The text as it was written; whether all of it was in view is not known yet. */
function Unread({ text }: { readonly text: string }) {
  const { report } = useReading()
  const ref = useRef<HTMLDivElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    if (ref.current) report(id, { where: 'unknown', marker: ref.current, isPassing: true })
    return () => report(id, null)
  }, [id, report])
  return (
    <div className="md" ref={ref}>
      <Passage bare text={text} />
    </div>
  )
}

const NONE: ReadonlyMap<string, string> = new Map()

/** A line of a prompt, with its emphasis and code. */
export function PromptLine({ text }: { readonly text: string }) {
  if (isPlain(text)) return <Pieces text={text} />
  return (
    <Suspense fallback={<Pieces text={text} />}>
      <Markdown inline {...{ text, images: NONE, level: 2 }} />
    </Suspense>
  )
}
