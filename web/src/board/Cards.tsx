import { useHosts } from '@callboard/react'
import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Plate } from '../server/types'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { unreachableHost } from './hosts'
import { PlateCard } from './PlateCard'
import { text } from './text'

/** From so many on, only what is near the window is drawn; with fewer, the browser finds all of it. */
const VIRTUAL_FROM = 60
const USUAL_HEIGHT = 132
const OVERSCAN = 4
/** The id of the row between those that are open and those that are closed. */
const FOLD = 'fold'

interface Props {
  readonly open: ReadonlyArray<Plate>
  readonly closed: ReadonlyArray<Plate>
  readonly isUnfolded: boolean
  readonly onFold: () => void
  /** Whether to say which machine a card's agent is on. */
  readonly showsHosts: boolean
}

/** The cards, and the one that was chosen with the keys. It is known by its id: cards move. */
export function Cards({ open, closed, isUnfolded, onFold, showsHosts }: Props) {
  const { hosts } = useHosts()
  const shown = isUnfolded ? [...open, ...closed] : open
  const ids = shown.map((plate) => plate.plateId)
  if (closed.length > 0) ids.splice(open.length, 0, FOLD)
  const byId = new Map(shown.map((plate) => [plate.plateId, plate]))
  const [chosen, setChosen] = useState<string | null>(null)
  const rows = useRows(ids, chosen)
  const choose = (at: number) => {
    const plate = shown[Math.max(0, Math.min(shown.length - 1, at))]
    if (!plate) return
    setChosen(plate.plateId)
    rows.reveal(ids.indexOf(plate.plateId))
  }
  useCardKeys(shown, chosen, choose)
  useShortcut(text.keys.group, KEYS.closed, text.keys.closed, onFold)
  return (
    <ul className="board" ref={rows.list} style={rows.style} onFocus={rows.noteFocus}>
      {rows.shown.map((row) => {
        const id = ids[row.index]
        const plate = id === undefined ? undefined : byId.get(id)
        const content: ReactNode = plate ? (
          <PlateCard
            plate={plate}
            chosen={plate.plateId === chosen}
            showsHost={showsHosts}
            lostSince={unreachableHost(plate, hosts)?.seenAt ?? null}
          />
        ) : (
          <FoldButton count={closed.length} isUnfolded={isUnfolded} onFold={onFold} />
        )
        return (
          <li
            key={id}
            ref={rows.measure}
            data-index={row.index}
            data-id={id}
            style={row.style}
            aria-setsize={ids.length}
            aria-posinset={row.index + 1}
          >
            {content}
          </li>
        )
      })}
    </ul>
  )
}

interface FoldProps {
  readonly count: number
  readonly isUnfolded: boolean
  readonly onFold: () => void
}

function FoldButton({ count, isUnfolded, onFold }: FoldProps) {
  return (
    <button type="button" className="board__fold" aria-expanded={isUnfolded} onClick={onFold}>
      {text.closed(count)}
    </button>
  )
}

function useCardKeys(
  shown: ReadonlyArray<Plate>,
  chosen: string | null,
  choose: (at: number) => void,
): void {
  const at = shown.findIndex((plate) => plate.plateId === chosen)
  useShortcut(text.keys.group, KEYS.next, text.keys.next, () => choose(at + 1))
  useShortcut(text.keys.group, KEYS.previous, text.keys.previous, () => choose(at - 1))
  useShortcut(text.keys.group, KEYS.first, text.keys.first, () => choose(0))
  useShortcut(text.keys.group, KEYS.last, text.keys.last, () => choose(shown.length - 1))
  useShortcut(text.keys.group, KEYS.open, text.keys.open, () => {
    if (at >= 0 && chosen) navigate(to.plate(chosen))
  })
}

interface RowsOnScreen {
  readonly list: RefObject<HTMLUListElement | null>
  readonly style: CSSProperties | undefined
  readonly measure: ((element: Element | null) => void) | undefined
  readonly shown: ReadonlyArray<{ readonly index: number; readonly style?: CSSProperties }>
  readonly reveal: (index: number) => void
  readonly noteFocus: (event: { readonly target: Element }) => void
}

/** Which rows are drawn. What was chosen, or was written in last, stays drawn wherever it is. */
function useRows(ids: ReadonlyArray<string>, chosen: string | null): RowsOnScreen {
  const list = useRef<HTMLUListElement>(null)
  const [used, setUsed] = useState<string | null>(null)
  const top = useTopOf(list)
  const isVirtual = ids.length >= VIRTUAL_FROM
  const virtual = useWindowVirtualizer({
    count: ids.length,
    enabled: isVirtual,
    estimateSize: () => USUAL_HEIGHT,
    overscan: OVERSCAN,
    scrollMargin: top,
    getItemKey: (index) => ids[index] ?? index,
    rangeExtractor: (range) => kept(range, [ids.indexOf(chosen ?? ''), ids.indexOf(used ?? '')]),
  })
  const reveal = (index: number) => {
    if (isVirtual) virtual.scrollToIndex(index, { align: 'auto' })
    else list.current?.children[index]?.scrollIntoView({ block: 'nearest' })
  }
  const noteFocus = ({ target }: { readonly target: Element }) =>
    setUsed(target.closest('[data-id]')?.getAttribute('data-id') ?? null)
  if (!isVirtual) {
    const all = ids.map((_, index) => ({ index }))
    return { list, style: undefined, measure: undefined, shown: all, reveal, noteFocus }
  }
  const shown = virtual.getVirtualItems().map(({ index, start }) => ({
    index,
    style: { position: 'absolute', transform: `translateY(${start - top}px)` } as const,
  }))
  const style = { height: virtual.getTotalSize() }
  return { list, style, measure: virtual.measureElement, shown, reveal, noteFocus }
}

function kept(range: Range, besides: ReadonlyArray<number>): number[] {
  const all = new Set([...defaultRangeExtractor(range), ...besides.filter((index) => index >= 0)])
  return [...all].sort((a, b) => a - b)
}

/** Where a list starts on the page; what stands above it comes and goes. */
function useTopOf(list: RefObject<HTMLUListElement | null>): number {
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    const around = list.current?.parentElement
    if (!around) return
    const measure = () => {
      const found = list.current?.getBoundingClientRect().top
      if (found !== undefined) setTop(Math.round(found + window.scrollY))
    }
    measure()
    // Not with each render: scrolling renders, and a layout in the middle of it costs a frame.
    const observer = new ResizeObserver(measure)
    observer.observe(around)
    return () => observer.disconnect()
  }, [list])
  return top
}
