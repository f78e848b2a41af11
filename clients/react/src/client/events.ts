/** Events as the server sends them, and which of them they are. */
import { type EventPayloads, eventNames } from './payloads.js'
import type { EventEnvelope, Interaction } from './wire.js'

/** What became of an answer. */
export type Receipt = NonNullable<Interaction['receipt']>

/** A name that this version knows. */
export type EventName = keyof EventPayloads

/** An event of one name; its payload is that name's. */
export type EventOf<N extends EventName> = Omit<EventEnvelope, 'name' | '_tag' | 'payload'> & {
  readonly name: N
  readonly _tag: N
  readonly payload: EventPayloads[N]
}

/** An event of a name that this version knows, told apart by `name`. */
export type KnownEvent = { [N in EventName]: EventOf<N> }[EventName]

/** An event as the server sends it. A newer server may send names that are not known here. */
export type SerializedEvent = EventEnvelope

const NAMES: ReadonlySet<string> = new Set(eventNames)

/** Whether an event has a name that this version knows; then `name` tells its payload. */
export function isKnownEvent(event: SerializedEvent): event is SerializedEvent & KnownEvent {
  return NAMES.has(event.name)
}

/** Whether an event has this name; then its payload is that name's. */
export function isEvent<N extends EventName>(
  event: SerializedEvent,
  name: N,
): event is SerializedEvent & EventOf<N> {
  return event.name === name
}

/** Whether nothing can follow this event. */
export function isTerminal(event: SerializedEvent): boolean {
  return (
    event.name === 'workflow:completed' ||
    event.name === 'workflow:failed' ||
    event.name === 'workflow:cancelled'
  )
}
