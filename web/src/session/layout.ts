import type { Edge } from '../server/types'

interface Named {
  readonly name: string
}

export interface Placed<N extends Named = Named> {
  readonly phase: N
  readonly x: number
  readonly y: number
}

export interface Drawn {
  readonly edge: Edge
  readonly path: string
}

export interface Drawing<N extends Named = Named> {
  readonly nodes: ReadonlyArray<Placed<N>>
  readonly edges: ReadonlyArray<Drawn>
  readonly width: number
  readonly height: number
}

export const NODE = { width: 148, height: 46 } as const
const GAP = { x: 56, y: 26 } as const
const MARGIN = 26

/**
 * Draw a workflow from left to right. A phase stands one column after the last of those that
 * lead to it; ways back do not count, and are drawn as arcs above or below.
 */
export function layout<N extends Named>(
  phases: ReadonlyArray<N>,
  edges: ReadonlyArray<Edge>,
): Drawing<N> {
  const columns = columnsOf(phases, edges)
  const places = place(phases, columns)
  const rows = Math.max(1, ...[...places.values()].map((spot) => spot.row + 1))
  const last = Math.max(0, ...columns.values())
  const nodes = phases.map((phase) => ({ phase, ...at(places.get(phase.name)) }))
  const byName = new Map(nodes.map((node) => [node.phase.name, node]))
  const drawn = edges.flatMap((edge) => {
    const from = byName.get(edge.from)
    const to = byName.get(edge.to)
    return from && to ? [{ edge, path: curve(from, to) }] : []
  })
  return {
    nodes,
    edges: drawn,
    width: MARGIN * 2 + (last + 1) * NODE.width + last * GAP.x,
    height: MARGIN * 2 + 14 + rows * NODE.height + (rows - 1) * GAP.y,
  }
}

interface Spot {
  readonly column: number
  readonly row: number
}

function columnsOf(phases: ReadonlyArray<Named>, edges: ReadonlyArray<Edge>): Map<string, number> {
  const order = new Map(phases.map((phase, index) => [phase.name, index]))
  const columns = new Map(phases.map((phase) => [phase.name, 0]))
  // Phases are written in the order in which they are meant, so a way to an earlier one is a
  // way back. That needs no search for cycles, and the picture keeps the author's order.
  const forward = edges.filter((e) => (order.get(e.from) ?? 0) < (order.get(e.to) ?? 0))
  for (const { name } of phases) {
    for (const { to } of forward.filter((edge) => edge.from === name)) {
      columns.set(to, Math.max(columns.get(to) ?? 0, (columns.get(name) ?? 0) + 1))
    }
  }
  return columns
}

function place(phases: ReadonlyArray<Named>, columns: Map<string, number>): Map<string, Spot> {
  const used = new Map<number, number>()
  const spots = new Map<string, Spot>()
  for (const { name } of phases) {
    const column = columns.get(name) ?? 0
    const row = used.get(column) ?? 0
    used.set(column, row + 1)
    spots.set(name, { column, row })
  }
  return spots
}

function at(spot: Spot | undefined): { x: number; y: number } {
  const { column, row } = spot ?? { column: 0, row: 0 }
  return {
    x: MARGIN + column * (NODE.width + GAP.x),
    y: MARGIN + 14 + row * (NODE.height + GAP.y),
  }
}

/** The line of a way: straight on, around to itself, or back in an arc above. */
function curve(from: Placed, to: Placed): string {
  const { width, height } = NODE
  if (from === to) {
    const x = from.x + width / 2
    return `M${x + 22} ${from.y} C${x + 26} ${from.y - 30} ${x - 26} ${from.y - 30} ${x - 22} ${from.y - 2}`
  }
  if (to.x > from.x) {
    const [x1, y1] = [from.x + width, from.y + height / 2]
    const [x2, y2] = [to.x - 3, to.y + height / 2]
    const bend = Math.max(28, (x2 - x1) / 2)
    return `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
  }
  const [x1, y1] = [from.x + width / 2, from.y]
  const [x2, y2] = [to.x + width / 2 + 12, to.y - 3]
  const lift = Math.min(34, 16 + Math.abs(x1 - x2) / 12)
  return `M${x1} ${y1} C${x1} ${y1 - lift} ${x2} ${y2 - lift} ${x2} ${y2}`
}
