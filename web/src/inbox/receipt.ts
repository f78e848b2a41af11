import { objectOf } from '../asks/ask'
import type { Interaction } from '../server/types'
import { text } from './text'

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
      return { tone: 'waiting', text: text.receipt.pending }
    case 'delivered':
      return { tone: 'good', text: text.receipt.delivered }
    case 'overruled':
      return { tone: 'bad', text: text.receipt.overruled(there(question)) }
    case 'lost':
      return { tone: 'bad', text: text.receipt.lost }
    default:
      return null
  }
}

/** What was done in the terminal instead. */
function there({ type, response }: Pick<Told, 'type' | 'response'>): string {
  const { approved, answers } = objectOf(response)
  if (answers !== undefined) return text.receipt.answered
  if (typeof approved !== 'boolean') return text.receipt.dismissed
  const [yes, no] = type === 'plan' ? text.receipt.plan : text.receipt.other
  return text.receipt.decided(approved ? yes : no)
}
