import { lazy, Suspense, useState } from 'react'
import { text } from './text'

interface Props {
  readonly plateId: string
  /** When it was asked. */
  readonly moment: string
  /** The subagent that asks, if one does: what led to it is in its own conversation. */
  readonly subagent?: string | undefined
}

// Reading conversations takes code that a question alone does not need.
const LedHere = lazy(() => import('./LedHere').then((loaded) => ({ default: loaded.LedHere })))

/** The messages that led to a request. */
export function Context(props: Props) {
  return (
    <Suspense fallback={null}>
      <LedHere {...props} />
    </Suspense>
  )
}

/** The same where there is little room: it is read once it is opened. */
export function FoldedContext(props: Props) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="folded" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{text.ledHere}</summary>
      {isOpen && <Context {...props} />}
    </details>
  )
}
