import type { Interaction } from '../server/types'
import { verdictOf, whereOf } from './manner'
import { receiptWords } from './receipt'

interface Props {
  readonly question: Interaction
}

/** What became of an answer: it is no more than accepted until the agent has confirmed it. */
export function Receipt({ question }: Props) {
  const words = receiptWords(question)
  if (!words) return null
  return (
    <p className={`receipt receipt--${words.tone}`} data-receipt={question.receipt}>
      {words.text}
    </p>
  )
}

/** An answered question on one line: what was answered, by whom, and what became of it. */
export function AnsweredLine({ question }: Props) {
  return (
    <div className="answered" role="status">
      <span>
        <strong>{verdictOf(question)}</strong> <span className="quiet">{whereOf(question)}</span>
      </span>{' '}
      <Receipt question={question} />
    </div>
  )
}
