import { objectOf } from '../asks/ask'
import type { Interaction } from '../server/types'

/** What became of an answer to a coding agent, in words. */
export interface ReceiptWords {
  readonly tone: 'waiting' | 'good' | 'bad'
  readonly text: string
}

type Told = Pick<Interaction, 'type' | 'status' | 'response' | 'accepted' | 'receipt'>

/** What became of an answer; null where nothing stands between, as with workflows. */
export function receiptWords(question: Told): ReceiptWords | null {
  if (question.accepted === null || question.accepted === undefined) return null
  switch (question.receipt) {
    case 'pending':
      return { tone: 'waiting', text: 'Waiting for the agent to confirm' }
    case 'delivered':
      return { tone: 'good', text: 'Delivered' }
    case 'overruled':
      return { tone: 'bad', text: `Overruled in the terminal: ${there(question)}` }
    case 'lost':
      return { tone: 'bad', text: 'Lost: the agent stopped before it got the answer' }
    default:
      return null
  }
}

/** What was done in the terminal instead. */
function there({ type, response }: Pick<Told, 'type' | 'response'>): string {
  const { approved, answers } = objectOf(response)
  if (answers !== undefined) return 'it was answered there'
  if (typeof approved !== 'boolean') return 'it was dismissed there'
  const [yes, no] = type === 'plan' ? ['approved', 'rejected'] : ['allowed', 'denied']
  return `it was ${approved ? yes : no} there`
}
