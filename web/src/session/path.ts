import type { SerializedEvent } from '../server/types'

/** What the graph shows of a session at one position. */
export interface Path {
  /** How often each phase was entered. */
  readonly visits: ReadonlyMap<string, number>
  /** How often each way was taken, by `from→to`. */
  readonly taken: ReadonlyMap<string, number>
  readonly current: string | null
  /** The phase that was entered last, also when the session has left it. */
  readonly last: string | null
  readonly failed: ReadonlySet<string>
  /** The phases whose last visit was skipped. */
  readonly skipped: ReadonlySet<string>
}

interface Walk {
  readonly visits: Map<string, number>
  readonly taken: Map<string, number>
  readonly failed: Set<string>
  readonly skipped: Set<string>
  current: string | null
  last: string | null
}

/** The name of a way between two phases. */
export function way(from: string, to: string): string {
  return `${from}→${to}`
}

/** The path taken by the first `position` events. */
export function pathAt(events: ReadonlyArray<SerializedEvent>, position: number): Path {
  const walk: Walk = {
    visits: new Map(),
    taken: new Map(),
    failed: new Set(),
    skipped: new Set(),
    current: null,
    last: null,
  }
  for (const event of events) {
    if (event.position > position) break
    STEPS[event.name]?.(walk, event.payload)
  }
  return walk
}

type Step = (walk: Walk, payload: Readonly<Record<string, unknown>>) => void

const STEPS: Readonly<Record<string, Step>> = {
  'phase:entered': (walk, { phase, fromPhase }) => {
    count(walk.visits, String(phase))
    walk.skipped.delete(String(phase))
    if (fromPhase) count(walk.taken, way(String(fromPhase), String(phase)))
    walk.current = walk.last = String(phase)
  },
  'phase:exited': (walk, { phase, reason }) => {
    if (reason === 'error') walk.failed.add(String(phase))
    if (reason === 'skipped') walk.skipped.add(String(phase))
    if (walk.current === phase && reason !== 'next') walk.current = null
  },
  'workflow:failed': (walk) => {
    if (walk.current) walk.failed.add(walk.current)
    walk.current = null
  },
  // A fork starts again where its parent was, also where that had failed.
  'session:forked': (walk, { phase }) => {
    walk.failed.clear()
    if (phase) walk.current = String(phase)
  },
}

function count(into: Map<string, number>, key: string): void {
  into.set(key, (into.get(key) ?? 0) + 1)
}
