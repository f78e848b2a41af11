import { type KeyboardEvent, useMemo, useRef } from 'react'
import { KeyHint } from '../parts/KeyHint'
import { length, whole } from '../parts/times'
import { onOneLine } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { cuesOf, type Segment } from './cues'
import { text } from './text'
import { moment, spansDays } from './when'

interface Props {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly end: number
  readonly live: boolean
  /** Go to a position; null follows the session. */
  readonly onMove: (position: number | null) => void
}

/** The session on one line, and a handle to go back in it. */
export function Scrubber({ events, position, end, live, onMove }: Props) {
  const cues = useMemo(() => cuesOf(events), [events])
  const go = (to: number) => onMove(to >= end ? null : Math.max(1, to))
  const stops = cues.segments.map((segment) => segment.from)
  useShortcut(text.scrubber.group, 'ArrowLeft', text.scrubber.back, () => go(position - 1))
  useShortcut(text.scrubber.group, 'ArrowRight', text.scrubber.forward, () => go(position + 1))
  useShortcut(text.scrubber.group, '[', text.scrubber.previousPhase, () =>
    go(stops.findLast((stop) => stop < position) ?? 1),
  )
  useShortcut(text.scrubber.group, ']', text.scrubber.nextPhase, () =>
    go(stops.find((stop) => stop > position) ?? end),
  )
  useShortcut(text.scrubber.group, 'l', text.scrubber.latest, () => onMove(null))
  return (
    <section className="scrubber" aria-label={text.scrubber.label}>
      <Strip {...{ cues, position, end }} onMove={go} />
      <input
        type="range"
        aria-label={text.scrubber.position}
        aria-valuetext={text.scrubber.of(position, end)}
        min={1}
        max={Math.max(1, end)}
        value={position}
        onChange={(event) => go(Number(event.target.value))}
      />
      <div className="scrubber__where">
        <span className="mono">{text.scrubber.place(position, end)}</span>
        {live ? (
          <span className="quiet">{text.scrubber.live}</span>
        ) : (
          <button type="button" className="button" onClick={() => onMove(null)}>
            {text.scrubber.latest} <KeyHint>l</KeyHint>
          </button>
        )}
      </div>
      <When events={events} position={position} />
    </section>
  )
}

interface StripProps {
  readonly cues: ReturnType<typeof cuesOf>
  readonly position: number
  readonly end: number
  readonly onMove: (position: number) => void
}

/** The visits of phases as segments: one Tab stop, and the arrows go from one to the next. */
function Strip({ cues, position, end, onMove }: StripProps) {
  const list = useRef<HTMLUListElement>(null)
  const share = (at: number) => `${(Math.max(0, at - 1) / Math.max(1, end - 1)) * 100}%`
  const { segments } = cues
  const here = Math.max(
    0,
    segments.findLastIndex((one) => one.from <= position),
  )
  const withDay = spansDays(segments[0]?.startedAt ?? '', segments.at(-1)?.endedAt ?? '')
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: segments.length - 1 }
    const next = to[event.key as keyof typeof to]
    const segment = next === undefined ? undefined : segments[next]
    if (!segment) return
    event.preventDefault()
    onMove(segment.from)
    list.current?.querySelectorAll('button')[next as number]?.focus()
  }
  return (
    <div className="scrubber__strip">
      <ul ref={list} aria-label={text.scrubber.visits} onKeyDown={onKeyDown}>
        {segments.map((segment, index) => (
          <li
            key={segment.from}
            style={{
              left: share(segment.from),
              width: `calc(${share(segment.to)} - ${share(segment.from)})`,
            }}
          >
            <button
              type="button"
              className={`scrubber__phase ${segment.from <= position ? 'is-past' : ''}`}
              tabIndex={index === here ? 0 : -1}
              aria-current={index === here ? 'step' : undefined}
              aria-label={spoken(segment, withDay)}
              title={spoken(segment, withDay)}
              onClick={() => onMove(segment.from)}
            >
              {labelOf(segment)}
            </button>
          </li>
        ))}
      </ul>
      <div aria-hidden="true">
        {cues.questions.map((at) => (
          <span key={at} className="scrubber__question" style={{ left: share(at) }} />
        ))}
        {cues.fork !== null && (
          <span className="scrubber__fork" style={{ left: share(cues.fork) }} />
        )}
      </div>
    </div>
  )
}

function labelOf({ phases, times, visits, visit }: Segment): string {
  const names = phases.slice(0, 3).map(onOneLine)
  if (visit !== null) return text.scrubber.visit(names[0] ?? '', visit)
  return times > 1
    ? text.scrubber.rounds(names.join(' → '), times)
    : text.scrubber.several(names.join(', '), visits)
}

function spoken(segment: Segment, withDay: boolean): string {
  const took = Date.parse(segment.endedAt) - Date.parse(segment.startedAt)
  return text.scrubber.segment({
    what: labelOf(segment),
    from: moment(segment.startedAt, withDay),
    to: moment(segment.endedAt, withDay),
    took: length(took),
  })
}

function When({ events, position }: Pick<Props, 'events' | 'position'>) {
  const [first, at, last] = [events[0], events[position - 1], events.at(-1)]
  if (!first || !at || !last) return null
  const since = Date.parse(at.timestamp) - Date.parse(first.timestamp)
  return (
    <p className="scrubber__when quiet">
      <time dateTime={at.timestamp} title={whole(at.timestamp)}>
        {moment(at.timestamp, spansDays(first.timestamp, last.timestamp) || !isToday(at.timestamp))}
      </time>{' '}
      <span>{text.scrubber.elapsed(length(since))}</span>
    </p>
  )
}

function isToday(timestamp: string): boolean {
  return !spansDays(timestamp, new Date().toISOString())
}
