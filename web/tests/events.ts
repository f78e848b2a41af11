import type { SerializedEvent } from '../src/server/types'

type Given = readonly [name: string, payload?: Record<string, unknown>]

/** Events at the positions 1, 2, 3, …, a second apart. */
export function eventsOf(...given: ReadonlyArray<Given>): SerializedEvent[] {
  return given.map(([name, payload = {}], index) => ({
    id: `event-${index + 1}`,
    sessionId: 's',
    position: index + 1,
    name,
    _tag: name,
    version: 1,
    payload,
    timestamp: new Date(index * 1000).toISOString(),
    causedBy: null,
  }))
}
