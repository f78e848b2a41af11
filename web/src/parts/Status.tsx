import type { ReactNode } from 'react'
import type { SessionStatus } from '../server/types'
import { text } from './text'

/** The words and the shapes differ, so that colour is never all there is. */
const WORDS: Record<SessionStatus, string> = text.statuses

const SHAPES: Record<SessionStatus, ReactNode> = {
  pending: <circle cx="6" cy="6" r="3.6" fill="none" stroke="currentColor" strokeWidth="1.6" />,
  running: <path d="M3 1.8v8.4L10.2 6z" />,
  waiting: <path d="M6 .8 11.2 6 6 11.2.8 6z" />,
  paused: <path d="M2.5 2h2.4v8H2.5zM7.1 2h2.4v8H7.1z" />,
  completed: (
    <path d="m1.8 6.4 2.7 2.7 5.7-6" fill="none" stroke="currentColor" strokeWidth="2.1" />
  ),
  failed: (
    <path d="m2.2 2.2 7.6 7.6m0-7.6L2.2 9.8" fill="none" stroke="currentColor" strokeWidth="2.1" />
  ),
  cancelled: (
    <path
      d="M6 1.6a4.4 4.4 0 1 1 0 8.8 4.4 4.4 0 0 1 0-8.8zM3 9l6-6"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    />
  ),
}

/** The word for a status. */
export function wordFor(status: SessionStatus): string {
  return WORDS[status]
}

/** How a session stands: a shape, a word, and a colour. */
export function Status({ status }: { readonly status: SessionStatus }) {
  return (
    <span className={`status status--${status}`}>
      <StatusShape status={status} />
      {WORDS[status]}
    </span>
  )
}

/** The shape alone, where the word stands elsewhere. */
export function StatusShape({ status }: { readonly status: SessionStatus }) {
  return (
    <svg viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
      {SHAPES[status]}
    </svg>
  )
}
