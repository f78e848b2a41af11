import type { ReactNode } from 'react'
import type { Plate } from '../server/types'
import { text } from './text'

type Look = 'pending' | 'running' | 'waiting' | 'failed' | 'completed' | 'paused' | 'cancelled'

interface Said {
  readonly look: Look
  readonly shape: ReactNode
}

const stroke = { fill: 'none', stroke: 'currentColor', strokeWidth: 1.9 } as const

/** What is said of each status; the shapes differ, so that colour is never all there is. */
const SAID: Readonly<Record<string, Said>> = {
  starting: {
    look: 'pending',
    shape: <circle cx="6" cy="6" r="3.6" {...stroke} />,
  },
  running: { look: 'running', shape: <path d="M3 1.8v8.4L10.2 6z" /> },
  awaiting_input: {
    look: 'waiting',
    shape: <path d="M3.4 4.1a2.6 2.6 0 1 1 3.7 2.4c-.8.4-1.1.8-1.1 1.6M6 10.6v.2" {...stroke} />,
  },
  awaiting_approval: {
    look: 'waiting',
    shape: <path d="M6 .8 11.2 6 6 11.2.8 6z" />,
  },
  error: {
    look: 'failed',
    shape: <path d="m2.2 2.2 7.6 7.6m0-7.6L2.2 9.8" {...stroke} />,
  },
  closed: {
    look: 'cancelled',
    shape: <path d="M2.2 2.2h7.6v7.6H2.2z" {...stroke} strokeWidth={1.5} />,
  },
  idle: { look: 'paused', shape: <path d="M2.5 2h2.4v8H2.5zM7.1 2h2.4v8H7.1z" /> },
  done: {
    look: 'completed',
    shape: <path d="m1.8 6.4 2.7 2.7 5.7-6" {...stroke} />,
  },
  interrupted: {
    look: 'paused',
    shape: <path d="M2 6h8" {...stroke} strokeWidth={2.4} />,
  },
  background: {
    look: 'running',
    shape: <path d="M6 1.6a4.4 4.4 0 1 1-4.4 4.4M6 3.6V6l1.8 1.4" {...stroke} strokeWidth={1.5} />,
  },
}

const UNASKED: ReadonlySet<string> = new Set(['starting', 'running', 'idle'])

/** How a plate stands, more exactly where more is known than its status. */
export function standing(
  plate: Pick<Plate, 'status' | 'waitingFor' | 'unseen' | 'interrupted' | 'background'>,
): string {
  // The dialog of a subagent leaves the status of its session as it is.
  if (plate.waitingFor !== null && UNASKED.has(plate.status)) return 'awaiting_approval'
  if (plate.status !== 'idle') return plate.status
  if (plate.background.length > 0) return 'background'
  if (plate.interrupted) return 'interrupted'
  return plate.unseen ? 'done' : 'idle'
}

interface Props {
  readonly plate: Plate
  /** Whether this is only how it stood when its machine was last seen. */
  readonly isStale?: boolean
}

/** How a plate stands: a shape, a word, and a colour. */
export function PlateStatus({ plate, isStale = false }: Props) {
  const name = standing(plate)
  const said = SAID[name] ?? { look: 'pending' as const, shape: SAID.starting?.shape }
  const word = (text.statuses as Readonly<Record<string, string>>)[name] ?? name
  return (
    <span
      className={`status status--${isStale ? 'stale' : said.look}`}
      data-status={plate.status}
      title={isStale ? `${text.host.lastKnown} ${word}` : undefined}
    >
      <svg viewBox="0 0 12 12" fill="currentColor" aria-hidden="true">
        {said.shape}
      </svg>
      {isStale && <span className="hidden">{text.host.lastKnown} </span>}
      {word}
    </span>
  )
}
