/** What can happen to a plate. */
import type { SerializedEvent } from './events.js'
import { type PlateEventPayloads, plateEventNames } from './payloads.js'

/** The name of an event of a plate that this version knows. */
export type PlateEventName = keyof PlateEventPayloads

const KNOWN: ReadonlySet<string> = new Set(plateEventNames)

/** Whether an event is one of a plate, and not of a session. */
export function isPlateEvent(
  event: SerializedEvent,
): event is SerializedEvent & { readonly name: PlateEventName } {
  return KNOWN.has(event.name)
}

/** Whether an event changed anything of its plate that a board shows. */
export function changesPlate(event: SerializedEvent): boolean {
  // An event of a version after this one describes its change in the same way.
  return typeof event.payload.plate === 'object' && event.payload.plate !== null
}
