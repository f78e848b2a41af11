import {
  type KeyboardEvent,
  type PointerEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import {
  type Box,
  bounded,
  fitted,
  opening,
  type Point,
  panned,
  type View,
  zoomed,
} from './viewport'

const STEP = 1.25
const PAN = 60
/** Less than this is a click. */
const STILL = 4

/** A window on a drawing that pans and zooms, and follows a point until a person moves it. */
export function useViewport(drawing: Box, around: Point | null) {
  const ref = useRef<HTMLElement>(null)
  const box = useSize(ref)
  const [view, setView] = useState<View | null>(null)
  const [moved, setMoved] = useState(false)
  const { width, height } = drawing
  const [x, y] = [around?.x, around?.y]
  useLayoutEffect(() => {
    if (!box) return
    const whole = { width, height }
    const point = x === undefined || y === undefined ? null : { x, y }
    setView((before) =>
      moved && before ? bounded(before, whole, box) : opening(whole, box, point),
    )
  }, [box, width, height, x, y, moved])
  const change = useCallback(
    (to: (view: View, whole: Box, box: Box) => View) => {
      if (!box) return
      setMoved(true)
      setView((before) => before && to(before, { width, height }, box))
    },
    [box, width, height],
  )
  const zoom = useCallback(
    (factor: number, at?: Point) =>
      change((before, whole, room) =>
        zoomed(before, factor, at ?? { x: room.width / 2, y: room.height / 2 }, whole, room),
      ),
    [change],
  )
  const pan = useCallback(
    (by: Point) => change((before, whole, room) => panned(before, by, whole, room)),
    [change],
  )
  useWheel(ref, zoom, pan)
  const fit = () => change((_, whole, room) => fitted(whole, room))
  // From there on it follows the session again.
  const centre = () => setMoved(false)
  const onKeyDown = (event: KeyboardEvent) => {
    const act = keyOf(event, { zoom, pan, fit, centre })
    if (!act) return
    event.preventDefault()
    act()
  }
  const { dragging, ...pointers } = usePointers(ref, pan, zoom)
  return {
    ref,
    view,
    moved,
    dragging,
    handlers: { onKeyDown, ...pointers },
    zoomIn: () => zoom(STEP),
    zoomOut: () => zoom(1 / STEP),
    fit,
    centre,
  }
}

interface Moves {
  readonly zoom: (factor: number) => void
  readonly pan: (by: Point) => void
  readonly fit: () => void
  readonly centre: () => void
}

function keyOf(event: KeyboardEvent, { zoom, pan, fit, centre }: Moves): (() => void) | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined
  const acts: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => pan({ x: PAN, y: 0 }),
    ArrowRight: () => pan({ x: -PAN, y: 0 }),
    ArrowUp: () => pan({ x: 0, y: PAN }),
    ArrowDown: () => pan({ x: 0, y: -PAN }),
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    '0': fit,
    c: centre,
  }
  return acts[event.key]
}

function useSize(ref: { readonly current: HTMLElement | null }): Box | null {
  const [size, setSize] = useState<Box | null>(null)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return size
}

/** The wheel zooms with Ctrl, as a pinch on a touchpad does, and else scrolls the page. */
function useWheel(
  ref: { readonly current: HTMLElement | null },
  zoom: (factor: number, at: Point) => void,
  pan: (by: Point) => void,
): void {
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const turn = (event: WheelEvent) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY)
      if (!event.ctrlKey && !event.metaKey && !sideways) return
      // React's own listener could not keep the browser from zooming the page.
      event.preventDefault()
      if (sideways) pan({ x: -event.deltaX, y: 0 })
      else zoom(Math.exp(-event.deltaY * 0.004), pointIn(element, event))
    }
    element.addEventListener('wheel', turn, { passive: false })
    return () => element.removeEventListener('wheel', turn)
  }, [ref, zoom, pan])
}

function pointIn(element: Element, { clientX, clientY }: { clientX: number; clientY: number }) {
  const { left, top } = element.getBoundingClientRect()
  return { x: clientX - left, y: clientY - top }
}

/** One pointer drags, two pinch. */
function usePointers(
  ref: { readonly current: HTMLElement | null },
  pan: (by: Point) => void,
  zoom: (factor: number, at: Point) => void,
) {
  const held = useRef(new Map<number, Point>())
  const [dragging, setDragging] = useState(false)
  const onPointerDown = (event: PointerEvent) => {
    if (event.button === 0) held.current.set(event.pointerId, at(event))
  }
  const onPointerMove = (event: PointerEvent) => {
    const before = held.current.get(event.pointerId)
    const now = at(event)
    const element = ref.current
    if (!before || !element) return
    const by = { x: now.x - before.x, y: now.y - before.y }
    if (!dragging && Math.hypot(by.x, by.y) < STILL) return
    if (!dragging) element.setPointerCapture(event.pointerId)
    setDragging(true)
    const other = [...held.current].find(([id]) => id !== event.pointerId)?.[1]
    held.current.set(event.pointerId, now)
    if (!other) return pan(by)
    const middle = { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 }
    zoom(apart(now, other) / Math.max(1, apart(before, other)), pointIn(element, middle))
  }
  const onPointerUp = (event: PointerEvent) => {
    held.current.delete(event.pointerId)
    if (held.current.size === 0) setDragging(false)
  }
  return { dragging, onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp }
}

const at = ({ clientX, clientY }: PointerEvent): Point => ({ x: clientX, y: clientY })
const apart = (one: Point, other: Point) => Math.hypot(one.x - other.x, one.y - other.y)
