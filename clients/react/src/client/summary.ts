import { isEvent, isTerminal, type SerializedEvent } from './events.js'
import type { InputRequestedPayload } from './payloads.js'

/** A question that waits for an answer. */
export interface PendingInteraction {
  readonly id: string
  readonly prompt: string
  readonly type: 'approval' | 'choice'
  readonly options?: ReadonlyArray<string>
  /** Whether any other text is an answer too. */
  readonly other?: boolean
  readonly phase?: string
  readonly deadline?: Date
  readonly timestamp: Date
}

/** What a list of events says of its session. */
export interface Summary {
  readonly position: number
  /** The position of the last change of the state; 0 before the first. */
  readonly statePosition: number
  readonly status: 'none' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'
  readonly pending: ReadonlyArray<PendingInteraction>
}

const NOTHING: Summary = { position: 0, statePosition: 0, status: 'none', pending: [] }

// What was found of a list stays with the list. The list that follows it continues from there, so
// that an event is looked at once and not with every batch that comes after it.
const known = new WeakMap<ReadonlyArray<SerializedEvent>, Summary>()

/** What these events say; `before` is a list that they start with. */
export function summarise(
  events: ReadonlyArray<SerializedEvent>,
  before?: ReadonlyArray<SerializedEvent>,
): Summary {
  const found = known.get(events)
  if (found) return found
  const base = before && known.get(before)
  let summary: Summary = base ?? NOTHING
  for (let at = base && before ? before.length : 0; at < events.length; at += 1) {
    summary = after(summary, events[at] as SerializedEvent)
  }
  known.set(events, summary)
  return summary
}

const STATUSES: Readonly<Record<string, Summary['status']>> = {
  'workflow:started': 'running',
  'workflow:resumed': 'running',
  'workflow:paused': 'paused',
  'workflow:completed': 'completed',
  'workflow:failed': 'failed',
  'workflow:cancelled': 'cancelled',
  // What a fork shares with its parent may hold a pause or an end; the fork starts over.
  'session:forked': 'running',
}
const CHANGES = new Set(['workflow:started', 'session:forked', 'state:intent'])
// One that was accepted takes no other answer, although the agent has not confirmed it yet.
const CLOSES = new Set([
  'input:accepted',
  'input:received',
  'input:corrected',
  'input:cancelled',
  'input:expired',
  'input:failed',
])

function after(summary: Summary, event: SerializedEvent): Summary {
  const { position, name } = event
  return {
    position,
    statePosition: CHANGES.has(name) ? position : summary.statePosition,
    status: STATUSES[name] ?? summary.status,
    pending: pendingAfter(summary.pending, event),
  }
}

function pendingAfter(
  pending: ReadonlyArray<PendingInteraction>,
  event: SerializedEvent,
): ReadonlyArray<PendingInteraction> {
  if (isEvent(event, 'input:requested')) {
    const asked = questionOf(event.payload, event.timestamp)
    return asked ? [...pending, asked] : pending
  }
  if (pending.length === 0) return pending
  if (CLOSES.has(event.name)) return pending.filter((one) => one.id !== event.payload.id)
  // Questions of the shared part stay the parent's.
  if (isTerminal(event) || event.name === 'session:forked') return []
  return pending
}

function questionOf(payload: InputRequestedPayload, timestamp: string): PendingInteraction | null {
  const { id, prompt, type, options, other, phase, deadline } = payload
  if (type !== 'approval' && type !== 'choice') return null
  return {
    id,
    prompt,
    type,
    ...(options && { options }),
    ...(other && { other }),
    ...(phase !== undefined && { phase }),
    ...(deadline !== undefined && { deadline: new Date(deadline) }),
    timestamp: new Date(timestamp),
  }
}
