import { isEvent, type SerializedEvent } from './events.js'
import type { Interaction } from './wire.js'

/** What is known about the answer to one question. */
export type AnswerRecord = Pick<
  Interaction,
  'status' | 'response' | 'accepted' | 'receipt' | 'answeredBy' | 'answeredAs' | 'via'
>

/** Whether a question still takes an answer: one that was accepted does not. */
export function isOpen({ status, accepted }: Pick<Interaction, 'status' | 'accepted'>): boolean {
  return status === 'pending' && (accepted === null || accepted === undefined)
}

/**
 * What became of each answer, by the id of its question, in the order of the answers. A correction
 * wins, whenever it comes.
 */
export function answersOf(
  events: ReadonlyArray<SerializedEvent>,
): ReadonlyMap<string, AnswerRecord> {
  const found = new Map<string, AnswerRecord>()
  const corrected = new Set<string>()
  for (const event of events) {
    const id = event.payload.id
    if (typeof id !== 'string') continue
    const known = found.get(id)
    const isCorrection = event.name === 'input:corrected'
    if (isCorrection) corrected.add(id)
    // Only what was accepted is still news about a question that was corrected.
    const told = corrected.has(id) && !isCorrection ? acceptedOf(event, known) : after(event, known)
    if (told) found.set(id, told)
  }
  return found
}

function acceptedOf(event: SerializedEvent, known?: AnswerRecord): AnswerRecord | null {
  if (!known || !isEvent(event, 'input:accepted')) return null
  return { ...known, accepted: event.payload.response }
}

const ENDS: Readonly<Record<string, Interaction['status']>> = {
  'input:received': 'completed',
  'input:cancelled': 'cancelled',
  'input:expired': 'timeout',
  'input:failed': 'failed',
}

function after(event: SerializedEvent, known?: AnswerRecord): AnswerRecord | null {
  const { name, payload } = event
  const accepted = known?.accepted ?? null
  if (isEvent(event, 'input:accepted')) {
    const { response } = event.payload
    return {
      ...who(payload),
      status: 'pending',
      response: null,
      accepted: response,
      receipt: 'pending',
    }
  }
  if (isEvent(event, 'input:corrected')) {
    const { status, response, receipt = null } = event.payload
    return { ...who(payload), status, response, accepted, receipt }
  }
  const status = ENDS[name]
  if (!status) return null
  return {
    ...who(payload),
    status: (payload.status as Interaction['status'] | undefined) ?? status,
    response: responseOf(payload),
    accepted,
    receipt: (payload.receipt as Interaction['receipt'] | undefined) ?? usual(name, payload.via),
  }
}

type Payload = SerializedEvent['payload']

function who({ by, as, via }: Payload): Pick<AnswerRecord, 'answeredBy' | 'answeredAs' | 'via'> {
  return { answeredBy: text(by), answeredAs: text(as), via: text(via) }
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** An answer to a workflow has arrived with its event; what the terminal decided is none of ours. */
function usual(name: string, via: unknown): Interaction['receipt'] {
  return name === 'input:received' && via !== 'terminal' ? 'delivered' : null
}

function responseOf(payload: Payload): unknown {
  if ('outcome' in payload) return payload.value ?? null
  const keys = ['value', 'approved', 'timedOut'].filter((key) => key in payload)
  return keys.length > 0 ? Object.fromEntries(keys.map((key) => [key, payload[key]])) : null
}
