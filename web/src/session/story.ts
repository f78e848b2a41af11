import { visible } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { describe, type Line } from './describe'

/** One line of the timeline: an event, or several that belong together. */
export interface Beat extends Line {
  readonly first: number
  readonly last: number
  readonly timestamp: string
  readonly events: ReadonlyArray<SerializedEvent>
}

const DELTAS = new Set(['text:delta', 'thinking:delta'])

/**
 * The events as a person wants to read them: what an agent says is one line however many
 * pieces it came in, and every other event is a line of its own.
 */
export function story(events: ReadonlyArray<SerializedEvent>): Beat[] {
  const beats: Beat[] = []
  for (const event of events) {
    const previous = beats.at(-1)
    if (previous && continues(previous, event)) beats[beats.length - 1] = joined(previous, event)
    else beats.push(beatOf(event))
  }
  return beats
}

function beatOf(event: SerializedEvent): Beat {
  const { position, timestamp } = event
  return { ...describe(event), first: position, last: position, timestamp, events: [event] }
}

function continues(beat: Beat, event: SerializedEvent): boolean {
  const head = beat.events[0]
  if (!head || !DELTAS.has(event.name) || head.name !== event.name) return false
  return head.payload.run === event.payload.run && head.payload.attempt === event.payload.attempt
}

function joined(beat: Beat, event: SerializedEvent): Beat {
  const events = beat.events as SerializedEvent[]
  // The beat is ours until it is given out, so its list may grow instead of being copied.
  events.push(event)
  return {
    ...beat,
    last: event.position,
    detail: (beat.detail ?? '') + visible(String(event.payload.delta ?? '')),
    events,
  }
}
