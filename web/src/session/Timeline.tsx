import { useVirtualizer } from '@tanstack/react-virtual'
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { visible } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { CopyButton } from './CopyButton'
import { SearchBar } from './SearchBar'
import { excerptAround, marked, matches, wanted } from './search'
import { type Beat, story } from './story'
import { text } from './text'
import { moment, spansDays } from './when'

interface Props {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly live: boolean
  readonly onMove: (position: number | null) => void
}

/** What happened, a line each; readable first, and raw on demand. */
export function Timeline({ events, position, live, onMove }: Props) {
  const [raw, setRaw] = useState(false)
  const [typed, setTyped] = useState('')
  const sought = useDeferredValue(typed)
  const query = useMemo(() => wanted(sought), [sought])
  const beats = useMemo(() => (raw ? events.map(rawBeat) : story(events)), [events, raw])
  const found = useMemo(() => matches(beats, query), [beats, query])
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
  const go = (index: number) => {
    const beat = beats[Math.max(0, Math.min(beats.length - 1, index))]
    if (beat) onMove(beat.last)
  }
  const seek = (by: 1 | -1) => {
    // Enter may come before the list has caught up with what was typed.
    const hits = typed === sought ? found : matches(beats, wanted(typed))
    const next = by > 0 ? hits.find((index) => index > at) : hits.findLast((index) => index < at)
    const index = next ?? (by > 0 ? hits[0] : hits.at(-1))
    if (index !== undefined) go(index)
  }
  useShortcut(text.timeline.group, 'j', text.timeline.next, () => go(at + 1))
  useShortcut(text.timeline.group, 'k', text.timeline.previous, () => go(at - 1))
  useShortcut(text.timeline.group, 'r', text.timeline.toggle, () => setRaw((before) => !before))
  const withDay = spansDays(events[0]?.timestamp ?? '', events.at(-1)?.timestamp ?? '')
  return (
    <section className="panel timeline" aria-label={text.timeline.title}>
      <header>
        <h2 className="grow">{text.timeline.title}</h2>
        <div className="tabs">
          <button type="button" aria-pressed={!raw} onClick={() => setRaw(false)}>
            {text.timeline.readable}
          </button>
          <button type="button" aria-pressed={raw} onClick={() => setRaw(true)}>
            {text.timeline.raw}
          </button>
        </div>
      </header>
      <SearchBar
        typed={typed}
        count={query ? found.length : null}
        at={found.indexOf(at) + 1}
        onType={setTyped}
        onSeek={seek}
      />
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
                  {...{ beat, raw, withDay, query, position }}
                  isAt={item.index === at}
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
  readonly withDay: boolean
  readonly query: RegExp | null
  readonly isAt: boolean
  readonly position: number
  readonly onMove: (position: number) => void
}

function BeatLine({ beat, raw, withDay, query, isAt, position, onMove }: LineProps) {
  const [open, setOpen] = useState(false)
  const isAhead = beat.first > position
  return (
    <div className={`beat beat--${beat.tone} ${isAt ? 'is-at' : ''} ${isAhead ? 'is-ahead' : ''}`}>
      <button
        type="button"
        className="beat__line"
        aria-current={isAt ? 'step' : undefined}
        title={text.timeline.goTo(beat.last)}
        onClick={() => onMove(beat.last)}
      >
        <span className="beat__position mono">{beat.last}</span>
        <BeatText beat={beat} query={query} />
        <time className="beat__time" dateTime={beat.timestamp}>
          {moment(beat.timestamp, withDay)}
        </time>
      </button>
      <button
        type="button"
        className="beat__more"
        aria-expanded={open || raw}
        aria-label={text.timeline.rawEvent(beat.first)}
        onClick={() => setOpen(!open)}
      >
        {'{ }'}
      </button>
      {(open || raw) && (
        <div className="beat__json">
          <CopyButton
            value={() => JSON.stringify(eventsOf(beat), null, 2)}
            label={text.timeline.copyEvent(beat.first)}
          >
            {text.timeline.copy}
          </CopyButton>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
          <pre tabIndex={0}>
            <Marked shown={rawText(beat)} query={query} />
          </pre>
        </div>
      )}
    </div>
  )
}

function BeatText({ beat, query }: Pick<LineProps, 'beat' | 'query'>) {
  const detail = beat.detail?.slice(0, DETAIL)
  const around =
    query && excerptAround(beat, `${beat.title}\n${detail?.slice(0, SEEN) ?? ''}`, query)
  return (
    <span className="beat__text">
      <span className="beat__title">
        <Marked shown={beat.title} query={query} />
      </span>
      {detail && (
        <span className="beat__detail">
          <Marked shown={detail} query={query} />
        </span>
      )}
      {around && query && (
        <span className="beat__found mono">
          <Marked shown={around} query={query} />
        </span>
      )}
    </span>
  )
}

function Marked({ shown, query }: { readonly shown: string; readonly query: RegExp | null }) {
  if (!query) return shown
  let at = 0
  return marked(shown, query).map((piece) => {
    at += piece.text.length
    return piece.isMatch ? <mark key={at}>{piece.text}</mark> : piece.text
  })
}

const LONGEST = 20_000
/** Four lines are shown; more than this never fits into them. */
const DETAIL = 2_000
/** What surely fits. */
const SEEN = 150

function eventsOf(beat: Beat): unknown {
  return beat.events.length === 1 ? beat.events[0] : beat.events
}

function rawText(beat: Beat): string {
  const shown = visible(JSON.stringify(eventsOf(beat), null, 2))
  return shown.length > LONGEST
    ? `${shown.slice(0, LONGEST)}\n${text.timeline.more(shown.length - LONGEST)}`
    : shown
}
