import { useVirtualizer, useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useOutbox } from '../outbox/outbox'
import type { ListRow } from './filters'
import { Slip } from './Slip'
import { text } from './text'
import { useMe } from './useMe'

interface Props {
  readonly rows: ReadonlyArray<ListRow>
  readonly count: number
  readonly chosen: string | null
  readonly picked: ReadonlySet<string>
  readonly onPick: (id: string) => void
}

const NARROW = '(max-width: 900px)'
const ROW = 62
const HEADING = 34

/** The questions. Only what is seen is drawn: beside the chosen one in a list of its own that scrolls. */
export function QuestionList(props: Props) {
  return useNarrow() ? <WindowList {...props} /> : <PaneList {...props} />
}

function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => window.matchMedia(NARROW).matches)
  useEffect(() => {
    const query = window.matchMedia(NARROW)
    const change = () => setNarrow(query.matches)
    query.addEventListener('change', change)
    return () => query.removeEventListener('change', change)
  }, [])
  return isNarrow
}

function sizing(rows: Props['rows']) {
  return {
    count: rows.length,
    estimateSize: (index: number) => (rows[index]?.question ? ROW : HEADING),
    getItemKey: (index: number) => {
      const row = rows[index]
      return row?.question?.id ?? `heading ${index}`
    },
    overscan: 8,
  }
}

function PaneList(props: Props) {
  const pane = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({ ...sizing(props.rows), getScrollElement: () => pane.current })
  return (
    <nav className="inbox__list" aria-label={text.questions} ref={pane}>
      <Rows {...props} virtual={virtual} margin={0} />
    </nav>
  )
}

function WindowList(props: Props) {
  const list = useRef<HTMLElement>(null)
  const [margin, setMargin] = useState(0)
  useLayoutEffect(() => setMargin(list.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({ ...sizing(props.rows), scrollMargin: margin })
  return (
    <nav className="inbox__list" aria-label={text.questions} ref={list}>
      <Rows {...props} virtual={virtual} margin={margin} />
    </nav>
  )
}

interface RowsProps extends Props {
  readonly virtual: Virtualizer<HTMLElement, Element> | Virtualizer<Window, Element>
  readonly margin: number
}

function Rows({ rows, count, chosen, picked, onPick, virtual, margin }: RowsProps) {
  const me = useMe()
  const sending = new Set(useOutbox().map(({ id }) => id))
  useFollowing(rows, chosen, virtual)
  return (
    <ul style={{ height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map((item) => {
        const row = rows[item.index]
        if (!row) return null
        return (
          <li
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            style={{ transform: `translateY(${item.start - margin}px)` }}
            {...(row.question && { 'aria-setsize': count, 'aria-posinset': row.place + 1 })}
          >
            {row.question ? (
              <Slip
                question={row.question}
                me={me}
                isChosen={row.question.id === chosen}
                isPicked={picked.has(row.question.id)}
                isSending={sending.has(row.question.id)}
                onPick={onPick}
              />
            ) : (
              <h2 className="inbox__group">
                <span className="grow">{row.heading}</span>
                <span className="quiet">{row.count}</span>
              </h2>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** Keep the chosen question in view as it changes, by keys too. */
function useFollowing(
  rows: Props['rows'],
  chosen: string | null,
  virtual: { scrollToIndex: (index: number) => void },
): void {
  const followed: RefObject<string | null> = useRef(null)
  const index = rows.findIndex((row) => row.question?.id === chosen)
  useEffect(() => {
    if (chosen === null || index < 0 || followed.current === chosen) return
    // What is shown first is at the top already.
    if (followed.current !== null || index > 0) virtual.scrollToIndex(index)
    followed.current = chosen
  }, [chosen, index, virtual])
}
