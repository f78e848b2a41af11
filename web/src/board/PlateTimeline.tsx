import { usePlateEvents } from '@callboard/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Problem } from '../parts/Problem'
import { clock } from '../parts/times'
import { visible } from '../parts/visible'
import { problemOf } from '../server/queries'
import type { SerializedEvent } from '../server/types'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { describePlate } from './tellers'
import { text } from './text'

/** What happened to a plate, the newest at the top: readable first, raw on demand. */
export function PlateTimeline({ plateId }: { readonly plateId: string }) {
  const { events, isLoading, error } = usePlateEvents(plateId)
  const [quiet, setQuiet] = useState(true)
  const shown = useMemo(() => {
    const told = quiet ? events.filter((event) => event.name !== 'hook_heard') : events
    return [...told].reverse()
  }, [events, quiet])
  useShortcut(text.keys.timeline, KEYS.raw, text.keys.raw, () => setQuiet((now) => !now))
  const problem = problemOf(error, events.length > 0)
  return (
    <section className="panel timeline" aria-label={text.plate.timeline}>
      <header>
        <h2 className="grow">{text.plate.timeline}</h2>
        <div className="tabs">
          <button type="button" aria-pressed={quiet} onClick={() => setQuiet(true)}>
            {text.plate.summary}
          </button>
          <button type="button" aria-pressed={!quiet} onClick={() => setQuiet(false)}>
            {text.plate.rawHooks}
          </button>
        </div>
      </header>
      {problem && <Problem error={problem} />}
      {isLoading && <p className="panel__body quiet">{text.loading}</p>}
      {!isLoading && !problem && shown.length === 0 && (
        <p className="panel__body quiet">{text.plate.noEvents}</p>
      )}
      <Lines events={shown} />
    </section>
  )
}

function Lines({ events }: { readonly events: ReadonlyArray<SerializedEvent> }) {
  const ref = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: events.length,
    getScrollElement: () => ref.current,
    estimateSize: () => 52,
    overscan: 8,
    getItemKey: (index) => events[index]?.position ?? index,
  })
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <div className="timeline__scroll plate__timeline" ref={ref} tabIndex={0}>
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const event = events[item.index]
          return event ? (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <EventLine event={event} />
            </li>
          ) : null
        })}
      </ol>
    </div>
  )
}

function EventLine({ event }: { readonly event: SerializedEvent }) {
  const [open, setOpen] = useState(false)
  const { tone, title, detail } = useMemo(() => describePlate(event), [event])
  return (
    <div className={`beat beat--${tone}`}>
      <div className="beat__line">
        <span className="beat__position mono">{event.position}</span>
        <span className="beat__text">
          <span className="beat__title">{title}</span>
          {detail && <span className="beat__detail">{detail}</span>}
        </span>
        <time className="beat__time" dateTime={event.timestamp}>
          {clock(event.timestamp)}
        </time>
      </div>
      <button
        type="button"
        className="beat__more"
        aria-expanded={open}
        aria-label={text.plate.raw(event.position)}
        onClick={() => setOpen(!open)}
      >
        {'{ }'}
      </button>
      {open && <RawEvent event={event} />}
    </div>
  )
}

function RawEvent({ event }: { readonly event: SerializedEvent }) {
  const ref = useRef<HTMLPreElement>(null)
  useEffect(() => ref.current?.focus(), [])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <pre className="beat__raw" ref={ref} tabIndex={0}>
      {visible(JSON.stringify(event, null, 2))}
    </pre>
  )
}
