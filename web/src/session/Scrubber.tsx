import { useMemo } from 'react'
import { KeyHint } from '../parts/KeyHint'
import type { SerializedEvent } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { cuesOf } from './cues'

interface Props {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly end: number
  readonly live: boolean
  /** Go to a position; null follows what happens. */
  readonly onMove: (position: number | null) => void
}

/** The session on one line, and a handle to go back in it. */
export function Scrubber({ events, position, end, live, onMove }: Props) {
  const cues = useMemo(() => cuesOf(events), [events])
  const go = (to: number) => onMove(to >= end ? null : Math.max(1, to))
  const stops = cues.stretches.map((stretch) => stretch.from)
  useShortcut('Position', 'ArrowLeft', 'One event back', () => go(position - 1))
  useShortcut('Position', 'ArrowRight', 'One event on', () => go(position + 1))
  useShortcut('Position', '[', 'To the phase before', () =>
    go(stops.findLast((stop) => stop < position) ?? 1),
  )
  useShortcut('Position', ']', 'To the next phase', () =>
    go(stops.find((stop) => stop > position) ?? end),
  )
  useShortcut('Position', 'l', 'Follow what happens', () => onMove(null))
  const share = (at: number) => `${(Math.max(0, at - 1) / Math.max(1, end - 1)) * 100}%`
  return (
    <section className="scrubber" aria-label="Go back in time">
      <div className="scrubber__strip" aria-hidden="true">
        {cues.stretches.map(({ phase, from, to }) => (
          <span
            key={from}
            className={`scrubber__phase ${from <= position ? 'is-past' : ''}`}
            style={{ left: share(from), width: `calc(${share(to)} - ${share(from)})` }}
            title={phase}
          >
            {phase}
          </span>
        ))}
        {cues.questions.map((at) => (
          <span key={at} className="scrubber__question" style={{ left: share(at) }} />
        ))}
        {cues.fork !== null && (
          <span className="scrubber__fork" style={{ left: share(cues.fork) }} />
        )}
      </div>
      <input
        type="range"
        aria-label="Position"
        aria-valuetext={`${position} of ${end}`}
        min={1}
        max={Math.max(1, end)}
        value={position}
        onChange={(event) => go(Number(event.target.value))}
      />
      <p className="scrubber__where">
        <span className="mono">
          {position} / {end}
        </span>
        {live ? (
          <span className="quiet">following</span>
        ) : (
          <button type="button" className="button" onClick={() => onMove(null)}>
            Jump to latest <KeyHint>l</KeyHint>
          </button>
        )}
      </p>
    </section>
  )
}
