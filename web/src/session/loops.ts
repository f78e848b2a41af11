import type { Edge, Phase } from '../server/types'

/** What the graph draws as one box: a phase, or all phases of a folded loop. */
export interface Stop {
  readonly name: string
  readonly phases: ReadonlyArray<Phase>
}

/** A workflow as it is drawn. */
export interface Folded {
  readonly stops: ReadonlyArray<Stop>
  readonly edges: ReadonlyArray<Edge>
  /** The box of each phase. */
  readonly stopOf: ReadonlyMap<string, string>
}

/**
 * The loops that can be folded: the phases between an edge back and its target, smaller loops
 * first. A loop that is more than half of the workflow stays open, because nothing would be left.
 */
export function loopsOf(phases: ReadonlyArray<Phase>, edges: ReadonlyArray<Edge>): string[][] {
  const order = new Map(phases.map(({ name }, index) => [name, index]))
  const at = (name: string) => order.get(name) ?? -1
  const known = edges.filter(({ from, to }) => order.has(from) && order.has(to))
  const back = known.filter(({ from, to }) => at(to) < at(from))
  back.sort((a, b) => at(a.from) - at(a.to) - (at(b.from) - at(b.to)) || at(a.to) - at(b.to))
  const taken = new Set<string>()
  const loops: string[][] = []
  for (const { from, to } of back) {
    const inside = known.filter((edge) =>
      [edge.from, edge.to].every((name) => at(to) <= at(name) && at(name) <= at(from)),
    )
    const reached = reachable(to, inside, (edge) => [edge.from, edge.to])
    const leading = reachable(from, inside, (edge) => [edge.to, edge.from])
    const members = phases.map(({ name }) => name).filter((n) => reached.has(n) && leading.has(n))
    const isSmall = members.length > 1 && members.length <= phases.length / 2
    if (!isSmall || !reached.has(from) || members.some((name) => taken.has(name))) continue
    for (const name of members) taken.add(name)
    loops.push(members)
  }
  return loops
}

function reachable(
  start: string,
  edges: ReadonlyArray<Edge>,
  ends: (edge: Edge) => [string, string],
): Set<string> {
  const found = new Set([start])
  const queue = [start]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    for (const edge of edges) {
      const [from, to] = ends(edge)
      if (from !== name || found.has(to)) continue
      found.add(to)
      queue.push(to)
    }
  }
  return found
}

/** The workflow with these loops drawn as one box each, at the place of their first phase. */
export function folded(
  phases: ReadonlyArray<Phase>,
  edges: ReadonlyArray<Edge>,
  loops: ReadonlyArray<ReadonlyArray<string>>,
): Folded {
  const stopOf = new Map(phases.map(({ name }) => [name, name]))
  for (const loop of loops) {
    const name = `${loop[0]}…${loop.at(-1)}`
    for (const member of loop) stopOf.set(member, name)
  }
  const stops = new Map<string, Phase[]>()
  for (const phase of phases) {
    const name = stopOf.get(phase.name) ?? phase.name
    stops.set(name, [...(stops.get(name) ?? []), phase])
  }
  return {
    stops: [...stops].map(([name, members]) => ({ name, phases: members })),
    edges: between(edges, stopOf),
    stopOf,
  }
}

/** The edges between boxes, each once; those inside a loop become the one back to itself. */
function between(edges: ReadonlyArray<Edge>, stopOf: ReadonlyMap<string, string>): Edge[] {
  const found = new Map<string, Edge>()
  for (const edge of edges) {
    const from = stopOf.get(edge.from)
    const to = stopOf.get(edge.to)
    if (from === undefined || to === undefined) continue
    const key = JSON.stringify([from, to])
    if (!found.has(key)) found.set(key, { ...edge, from, to })
  }
  return [...found.values()]
}
