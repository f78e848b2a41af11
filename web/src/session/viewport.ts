export interface Box {
  readonly width: number
  readonly height: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** Where the drawing's corner is in its window, and how large the drawing is shown. */
export interface View extends Point {
  readonly scale: number
}

export const SCALE = { least: 0.005, most: 3 } as const
/** Smaller than this, names can no longer be read. */
const LEGIBLE = 0.7
const ROOM = 8

/** The whole drawing, in the middle, never larger than life. */
export function fitted(drawing: Box, box: Box): View {
  const scale = Math.min(
    1,
    Math.max(0, box.width - ROOM) / drawing.width,
    Math.max(0, box.height - ROOM) / drawing.height,
  )
  return bounded({ x: 0, y: 0, scale: Math.max(SCALE.least, scale) }, drawing, box)
}

/** What is seen first: all of it if it can be read, else the part around a point. */
export function opening(drawing: Box, box: Box, around: Point | null): View {
  const whole = fitted(drawing, box)
  if (whole.scale >= LEGIBLE) return whole
  return centred({ x: 0, y: 0, scale: 1 }, around ?? { x: 0, y: 0 }, drawing, box)
}

/** The same size, with a point of the drawing in the middle. */
export function centred({ scale }: View, point: Point, drawing: Box, box: Box): View {
  const x = box.width / 2 - point.x * scale
  const y = box.height / 2 - point.y * scale
  return bounded({ x, y, scale }, drawing, box)
}

/** Larger or smaller, with the point of the window under the pointer where it was. */
export function zoomed(view: View, factor: number, at: Point, drawing: Box, box: Box): View {
  const scale = Math.min(SCALE.most, Math.max(SCALE.least, view.scale * factor))
  const by = scale / view.scale
  return bounded(
    { scale, x: at.x - (at.x - view.x) * by, y: at.y - (at.y - view.y) * by },
    drawing,
    box,
  )
}

/** Moved by so much. */
export function panned(view: View, by: Point, drawing: Box, box: Box): View {
  return bounded({ ...view, x: view.x + by.x, y: view.y + by.y }, drawing, box)
}

/** Never beyond its edges, so that the drawing cannot be lost; in the middle where there is room. */
export function bounded({ x, y, scale }: View, drawing: Box, box: Box): View {
  return {
    scale,
    x: within(x, drawing.width * scale, box.width),
    y: within(y, drawing.height * scale, box.height),
  }
}

function within(at: number, size: number, room: number): number {
  if (size <= room) return (room - size) / 2
  return Math.min(0, Math.max(room - size, at))
}
