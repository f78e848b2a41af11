import { isEvent, type SerializedEvent } from './events.js'

type Delta = SerializedEvent & {
  readonly payload: { readonly run: string; readonly attempt: number; readonly delta: string }
}

function isDelta(event: SerializedEvent): event is Delta {
  return event.name === 'text:delta' || event.name === 'thinking:delta'
}

/**
 * The same events with text in one piece: deltas of one attempt become one event, at the place
 * of the first, until that run does something else. Parallel runs do not break each other's text.
 */
export function mergeDeltas(events: ReadonlyArray<SerializedEvent>): SerializedEvent[] {
  const merged: SerializedEvent[] = []
  const open = new Map<unknown, { readonly at: number; readonly key: string; text: string[] }>()
  const close = (run: unknown) => {
    const found = open.get(run)
    const first = found && merged[found.at]
    if (found && first && found.text.length > 1) {
      merged[found.at] = { ...first, payload: { ...first.payload, delta: found.text.join('') } }
    }
    open.delete(run)
  }
  for (const event of events) {
    const { run } = event.payload
    if (!isDelta(event)) {
      close(run)
      merged.push(event)
      continue
    }
    const key = `${event.name} ${event.payload.attempt}`
    if (open.get(run)?.key !== key) {
      close(run)
      open.set(run, { at: merged.length, key, text: [] })
      merged.push(event)
    }
    open.get(run)?.text.push(event.payload.delta)
  }
  for (const run of [...open.keys()]) close(run)
  return merged
}

/** Which text is meant. */
export interface TextOptions {
  /** A run, such as `plan#1`; without it, the one that spoke last. */
  readonly run?: string | undefined
  readonly kind?: 'text' | 'thinking' | undefined
}

/** What an agent has said in its last attempt. */
export function textOf(events: ReadonlyArray<SerializedEvent>, options: TextOptions = {}): string {
  const name = options.kind === 'thinking' ? 'thinking:delta' : 'text:delta'
  let { run } = options
  let attempt: number | undefined
  const pieces: string[] = []
  // Backwards, because the last run is the one that is wanted and may be short.
  for (let at = events.length - 1; at >= 0; at -= 1) {
    const event = events[at] as SerializedEvent
    if (!isEvent(event, name)) continue
    run ??= event.payload.run
    if (event.payload.run !== run) continue
    attempt ??= event.payload.attempt
    if (event.payload.attempt !== attempt) break
    pieces.push(event.payload.delta)
  }
  return pieces.reverse().join('')
}
