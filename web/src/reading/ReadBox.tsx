import { type ReactNode, useEffect, useId, useLayoutEffect, useRef } from 'react'
import {
  answersBeside,
  covered,
  isInView,
  ReadingContext,
  useNewReading,
  useReading,
} from './reading'

/** What is asked, and the ways to answer: nothing in it is allowed before its end was in view. */
export function ReadFirst({ children }: { readonly children: ReactNode }) {
  return <ReadingContext value={useNewReading()}>{children}</ReadingContext>
}

interface Props {
  readonly label: string
  readonly className?: string
  readonly children: ReactNode
}

/** A box that scrolls when its text is long, and knows whether the end of it has been in view. */
export function ReadBox({ label, className = '', children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className={`readbox ${className}`} aria-label={label} tabIndex={0}>
      {children}
      <End />
    </section>
  )
}

/** The end of what has to be read. */
export function End() {
  const { report } = useReading()
  const ref = useRef<HTMLSpanElement>(null)
  const id = useId()
  const isSeen = useRef(false)
  useLayoutEffect(() => {
    const marker = ref.current
    if (!marker) return
    // A short text is not waited for: a key that is pressed at once finds it read.
    isSeen.current ||= isInView(marker)
    report(id, { where: isSeen.current ? 'seen' : 'unknown', marker })
    return () => report(id, null)
  }, [id, report])
  useEffect(() => {
    const marker = ref.current
    if (!marker || isSeen.current) return
    return watchEnd(marker, (isInSight) => {
      isSeen.current ||= isInSight
      report(id, { where: isSeen.current ? 'seen' : 'below', marker })
    })
  }, [id, report])
  return <span className="readbox__end" ref={ref} aria-hidden="true" />
}

/** Tells whether an end is in sight, also when the answers that lie over it change their size. */
function watchEnd(marker: HTMLElement, tell: (isInSight: boolean) => void): () => void {
  let observer: IntersectionObserver | null = null
  const watch = () => {
    observer?.disconnect()
    observer = new IntersectionObserver(
      (entries) => tell(entries.some((entry) => entry.isIntersecting)),
      { rootMargin: `0px 0px -${covered(marker)}px 0px` },
    )
    observer.observe(marker)
  }
  const answers = answersBeside(marker)
  const resizing = new ResizeObserver(watch)
  watch()
  if (answers) resizing.observe(answers)
  return () => {
    resizing.disconnect()
    observer?.disconnect()
  }
}

interface UnopenedProps {
  readonly open: () => void
  readonly children: ReactNode
}

/** Stands for an end that is folded away: nothing is allowed before it is unfolded. */
export function Unopened({ open, children }: UnopenedProps) {
  const { report } = useReading()
  const ref = useRef<HTMLButtonElement>(null)
  const latest = useRef(open)
  const id = useId()
  useLayoutEffect(() => {
    latest.current = open
  })
  useLayoutEffect(() => {
    const marker = ref.current
    if (!marker) return
    report(id, { where: 'below', marker, open: () => latest.current() })
    return () => report(id, null)
  }, [id, report])
  return (
    <p className="fold">
      <button ref={ref} type="button" className="button" onClick={open}>
        {children}
      </button>
    </p>
  )
}
