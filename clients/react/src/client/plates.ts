/**
 * What can happen to a plate, as docs/reference/events.md lists it. A test compares the names with
 * those of the server.
 */
import type { SerializedEvent } from './events.js'

const NAMES = [
  'session_start',
  'prompt_submit',
  'tool_start',
  'tool_call',
  'stop',
  'health_check_recovery',
  'permission_request',
  'permission_resolved',
  'permission_settled',
  'stop_failure',
  'turn_idle',
  'subagent_start',
  'subagent_stop',
  'compact',
  'session_end',
  'process_exit',
  'hook_heard',
  'plate_registered',
  'plate_changed',
  'plate_dismissed',
] as const

/** The name of an event of a plate that this version knows. */
export type PlateEventName = (typeof NAMES)[number]

/** Every name of an event of a plate that this version knows. */
export const plateEventNames: ReadonlyArray<PlateEventName> = NAMES

const KNOWN: ReadonlySet<string> = new Set(NAMES)

/** Whether an event is one of a plate, and not of a session. */
export function isPlateEvent(
  event: SerializedEvent,
): event is SerializedEvent & { readonly name: PlateEventName } {
  return KNOWN.has(event.name)
}

/** Whether an event changed anything of its plate that a board shows. */
export function changesPlate(event: SerializedEvent): boolean {
  // An event of a version after this one tells of its change in the same way.
  return typeof event.payload.plate === 'object' && event.payload.plate !== null
}
