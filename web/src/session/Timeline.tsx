import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { clock } from '../parts/times'
import { visible } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { type Beat, story } from './story'

interface Props {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly live: boolean
  readonly onMove: (position: number | null) => void
}

/** What happened, a line each; readable first, and raw on demand. */
export function Timeline({ events, position, live, onMove }: Props) {
  const [raw, setRaw] = useState(false)
  const beats = useMemo(() => (raw ? events.map(rawBeat) : story(events)), [events, raw])
  const ref = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: beats.length,
    getScrollElement: () => ref.current,
    estimateSize: () => 52,
    overscan: 8,
    getItemKey: (index) => beats[index]?.first ?? index,
  })
  const at = beats.findLastIndex((beat) => beat.first <= position)
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: live ? 'end' : 'auto' })
  }, [at, live, virtual])
  const step = (by: number) => {
    const beat = beats[Math.max(0, Math.min(beats.length - 1, at + by))]
    if (beat) onMove(beat.last)
  }
  useShortcut('Timeline', 'j', 'Next line', () => step(1))
  useShortcut('Timeline', 'k', 'Line before', () => step(-1))
  useShortcut('Timeline', 'r', 'Readable or raw', () => setRaw((before) => !before))
  return (
    <section className="panel timeline" aria-label="Timeline">
      <header>
        <h2 className="grow">Timeline</h2>
        <div className="tabs">
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            Readable
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            Raw
          </button>
        </div>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <div className="timeline__scroll" ref={ref} tabIndex={0}>
        <ol style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const beat = beats[item.index]
            return beat ? (
              <li
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <BeatLine
                  beat={beat}
                  raw={raw}
                  isAt={item.index === at}
                  position={position}
                  onMove={onMove}
                />
              </li>
            ) : null
          })}
        </ol>
      </div>
    </section>
  )
}

function rawBeat(event: SerializedEvent): Beat {
  const { position, timestamp, name } = event
  return { tone: 'plain', title: name, first: position, last: position, timestamp, events: [event] }
}

interface LineProps {
  readonly beat: Beat
  readonly raw: boolean
  readonly isAt: boolean
  readonly position: number
  readonly onMove: (position: number) => void
}

function BeatLine({ beat, raw, isAt, position, onMove }: LineProps) {
  const [open, setOpen] = useState(false)
  const isAhead = beat.first > position
  return (
    <div className={`beat beat--${beat.tone} ${isAt ? 'is-at' : ''} ${isAhead ? 'is-ahead' : ''}`}>
      <button
        type="button"
        className="beat__line"
        aria-current={isAt ? 'step' : undefined}
        title={`Go to position ${beat.last}`}
        onClick={() => onMove(beat.last)}
      >
        <span className="beat__position mono">{beat.last}</span>
        <span className="beat__text">
          <span className="beat__title">{beat.title}</span>
          {beat.detail && <span className="beat__detail">{beat.detail}</span>}
        </span>
        <time className="beat__time" dateTime={beat.timestamp}>
          {clock(beat.timestamp)}
        </time>
      </button>
      <button
        type="button"
        className="beat__more"
        aria-expanded={open || raw}
        aria-label={`Raw event ${beat.first}`}
        onClick={() => setOpen(!open)}
      >
        {'{ }'}
      </button>
      {(open || raw) && <pre className="beat__raw">{rawText(beat)}</pre>}
    </div>
  )
}

const LONGEST = 20_000

function rawText(beat: Beat): string {
  const shown = beat.events.length === 1 ? beat.events[0] : beat.events
  const text = visible(JSON.stringify(shown, null, 2))
  return text.length > LONGEST
    ? `${text.slice(0, LONGEST)}\n… and ${text.length - LONGEST} more`
    : text
}
