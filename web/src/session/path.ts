import type { SerializedEvent } from '../server/types'

/** What the graph shows of a session at one position. */
export interface Path {
  /** How often each phase was entered. */
  readonly visits: ReadonlyMap<string, number>
  /** How often each way was taken, by `from→to`. */
  readonly taken: ReadonlyMap<string, number>
  readonly current: string | null
  readonly failed: ReadonlySet<string>
}

/** The name of a way between two phases. */
export function way(from: string, to: string): string {
  return `${from}→${to}`
}

/** The path taken by the first `position` events. */
export function pathAt(events: ReadonlyArray<SerializedEvent>, position: number): Path {
  const visits = new Map<string, number>()
  const taken = new Map<string, number>()
  const failed = new Set<string>()
  let current: string | null = null
  for (const { name, payload, position: at } of events) {
    if (at > position) break
    const phase = String(payload.phase)
    if (name === 'phase:entered') {
      visits.set(phase, (visits.get(phase) ?? 0) + 1)
      if (payload.fromPhase) count(taken, way(String(payload.fromPhase), phase))
      current = phase
    } else if (name === 'phase:exited') {
      if (payload.reason === 'error') failed.add(phase)
      if (current === phase && payload.reason !== 'next') current = null
    } else if (name === 'workflow:failed' && current) {
      failed.add(current)
      current = null
    }
  }
  return { visits, taken, current, failed }
}

function count(into: Map<string, number>, key: string): void {
  into.set(key, (into.get(key) ?? 0) + 1)
}
