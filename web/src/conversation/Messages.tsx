import type { UseConversationResult } from '@callboard/react'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { ArrowDownIcon } from '../parts/icons'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { Message } from './Message'
import { text } from './text'

interface Props {
  readonly told: UseConversationResult
  /** The message that a link or a search leads to. */
  readonly linked: string | null
  readonly onLatest: () => void
}

/** How far from an edge, in pixels, more is asked for. */
const NEAR = 600
/** How close to the end a reader is taken along as it grows. */
const AT_END = 80

/** The messages, of which only those in view are drawn. It follows the end if the reader is there. */
export function Messages({ told, linked, onLatest }: Props) {
  const { items, hasPreviousPage, hasNextPage, fetchPreviousPage, fetchNextPage } = told
  const ref = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => ref.current,
    estimateSize: (index) => (items[index]?.kind === 'reply' ? 120 : 48),
    overscan: 6,
    getItemKey: (index) => items[index]?.id ?? index,
    anchorTo: 'end',
    followOnAppend: !hasNextPage,
    scrollEndThreshold: AT_END,
    initialOffset: linked === null ? Number.MAX_SAFE_INTEGER : 0,
    useAnimationFrameWithResizeObserver: true,
  })
  const [isAtEnd, setAtEnd] = useState(true)
  const fresh = useFresh(items.length, items.at(-1)?.id ?? null, isAtEnd || hasNextPage)
  const isPlaced = useRef<string | null | undefined>(undefined)
  useEffect(() => {
    if (items.length === 0 || isPlaced.current === linked) return
    if (linked === null) virtual.scrollToEnd()
    else {
      const index = items.findIndex(({ id }) => id === linked)
      if (index < 0) return
      virtual.scrollToIndex(index, { align: 'center' })
      focusLinked(ref.current)
    }
    isPlaced.current = linked
  }, [items, linked, virtual])
  const look = () => {
    const box = ref.current
    if (!box) return
    const below = box.scrollHeight - box.scrollTop - box.clientHeight
    setAtEnd(below <= AT_END)
    if (box.scrollTop < NEAR && hasPreviousPage) fetchPreviousPage()
    if (below < NEAR && hasNextPage) fetchNextPage()
  }
  useEffect(look)
  const wasAtEnd = useRef(true)
  const follows = linked === null && !hasNextPage
  useEffect(() => {
    const box = ref.current
    if (!box || !follows) return
    // The field below it grows: the end stays in view for those who were there.
    const seen = new ResizeObserver(() => wasAtEnd.current && virtual.scrollToEnd())
    seen.observe(box)
    return () => seen.disconnect()
  }, [virtual, follows])
  useShortcut(text.keys.group, KEYS.last, text.keys.latest, onLatest)
  return (
    <div className="conversation__frame">
      <div
        className="conversation__scroll"
        ref={ref}
        role="feed"
        aria-label={text.title}
        aria-busy={told.isFetchingPreviousPage || told.isFetchingNextPage}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
        tabIndex={0}
        onScroll={({ currentTarget: box }) => {
          wasAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight <= AT_END
          look()
        }}
      >
        <p className="conversation__edge quiet">
          {hasPreviousPage ? text.earlier : items.length > 0 && text.start}
        </p>
        <div className="conversation__all" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, key, start }) => {
            const item = items[index]
            return item ? (
              <div
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                style={{ transform: `translateY(${start}px)` }}
              >
                <Message item={item} position={index + 1} isLinked={item.id === linked} />
              </div>
            ) : null
          })}
        </div>
      </div>
      <p className="hidden" role="status">
        {fresh > 0 && text.fresh(fresh)}
      </p>
      {(!isAtEnd || hasNextPage) && (
        <button
          type="button"
          className={`button conversation__latest ${fresh > 0 ? 'button--lamp' : ''}`}
          onClick={() => {
            virtual.scrollToEnd()
            onLatest()
          }}
        >
          <ArrowDownIcon /> {fresh > 0 ? text.fresh(fresh) : text.latest}
        </button>
      )}
    </div>
  )
}

/** Give the focus to the message that was looked for, as soon as it is drawn. */
function focusLinked(box: HTMLElement | null): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      box?.querySelector<HTMLElement>('.is-linked')?.focus({ preventScroll: true }),
    ),
  )
}

/** How many messages have come since the end was in view. */
function useFresh(count: number, last: string | null, isSeen: boolean): number {
  const [seen, setSeen] = useState({ count, last })
  if (isSeen && (seen.count !== count || seen.last !== last)) setSeen({ count, last })
  // Earlier ones that were loaded meanwhile change the count, but not the last.
  else if (seen.last === last && seen.count !== count) setSeen({ count, last })
  return seen.last === last ? 0 : Math.max(1, count - seen.count)
}
