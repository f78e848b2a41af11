import type { Interaction, SerializedEvent } from '../server/types'

/** What is known about the answer to one question. */
export type AnswerRecord = Pick<
  Interaction,
  'status' | 'response' | 'accepted' | 'receipt' | 'answeredBy' | 'answeredAs' | 'via'
>

// What a question is after each of these; a correction says it itself.
const STATUSES: Readonly<Record<string, string>> = {
  'input:accepted': 'pending',
  'input:received': 'completed',
  'input:corrected': '',
  'input:cancelled': 'cancelled',
  'input:expired': 'timeout',
  'input:failed': 'failed',
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
  for (const { name, payload } of events) {
    const status = STATUSES[name]
    if (status === undefined) continue
    const id = String(payload.id)
    if (!status) corrected.add(id)
    else if (corrected.has(id)) continue
    found.set(id, after(status, payload, found.get(id)?.accepted ?? null))
  }
  return found
}

function after(status: string, payload: SerializedEvent['payload'], known: unknown): AnswerRecord {
  const { by = null, as = null, via = null, value, approved, response } = payload
  const isAccepted = status === 'pending'
  const simple = value === undefined ? null : { value, ...(approved !== undefined && { approved }) }
  const usual = status === 'completed' && via !== 'terminal' ? 'delivered' : null
  return {
    status: payload.status ?? status,
    // A workflow's answer has parts; what an agent or an interactive session gets is one thing.
    response: isAccepted ? null : (response ?? ('outcome' in payload ? value : simple) ?? null),
    accepted: isAccepted ? response : known,
    receipt: isAccepted ? status : (payload.receipt ?? usual),
    answeredBy: by,
    answeredAs: as,
    via,
  } as AnswerRecord
}
