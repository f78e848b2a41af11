import { objectOf } from '../asks/ask'
import { decisionsOf } from '../interactive/wanted'
import { wordsFor } from '../interactive/words'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { text } from './text'

export type Manner = 'verdict' | 'option' | 'text' | 'ruling' | 'answers' | 'decision' | 'elsewhere'

const MANNERS: Readonly<Record<string, Manner>> = {
  approval: 'verdict',
  confirmation: 'verdict',
  choice: 'option',
  select: 'option',
  input: 'text',
  permission: 'ruling',
  plan: 'ruling',
  question: 'answers',
  interactive_session: 'decision',
}

/** How a question is answered here; what is not known has to be answered where it was asked. */
export function mannerOf(question: Pick<Interaction, 'type'>): Manner {
  return MANNERS[question.type] ?? 'elsewhere'
}

/** What was answered, in words. */
export function verdictOf(question: Interaction): string {
  const { response, status, type } = question
  if (status === 'approved') return text.verdict.approved
  if (status === 'rejected') return text.verdict.rejected
  if (type === 'interactive_session') return decisionOf(question)
  if (status === 'pending' && isAnswered(question)) return acceptedAnswer(question)
  if (status === 'cancelled' && question.receipt === 'lost') {
    return text.verdict.notDelivered(acceptedAnswer(question))
  }
  if (status === 'cancelled' && question.via === 'terminal') return text.verdict.dismissed
  if (status !== 'completed') return withReason(text.verdict.ends[status] ?? status, question.error)
  return answerOf(type, response)
}

/** The answer that was accepted, in words, whatever became of it. */
export function acceptedAnswer({ type, accepted }: Interaction): string {
  return answerOf(type, accepted)
}

function isAnswered({ accepted }: Interaction): boolean {
  return accepted !== null && accepted !== undefined
}

function answerOf(type: string, response: unknown): string {
  const given = objectOf(response)
  if (typeof given.approved === 'boolean') return ruled(type, given)
  const answers = Object.values(objectOf(given.answers))
  if (answers.length > 0) return answers.map(quoted).join(', ')
  return quoted('value' in given ? given.value : response)
}

/** How an interactive session ended; of several people each is named. */
function decisionOf(question: Interaction): string {
  const { status, error, response } = question
  if (status !== 'completed') {
    return withReason(text.verdict.sessionEnds[status] ?? status, error)
  }
  const decisions = decisionsOf(question)
  if (decisions.length === 0) return isWhole(response) ? text.verdict.decided : wordsFor(response)
  if (decisions.some(([, one]) => isWhole(one))) return text.verdict.allDecided
  return decisions.map(([name, one]) => `${visible(name)}: ${wordsFor(one)}`).join(', ')
}

function withReason(how: string, error: unknown): string {
  const why = objectOf(error).message ?? error
  return typeof why === 'string' ? `${how}: ${visible(why)}` : how
}

/** Whether a response is better shown as a whole than told on one line. */
export function isWhole(response: unknown): boolean {
  return typeof response === 'object' && response !== null
}

/** Where a question was decided, or by whom. */
export function whereOf(question: Interaction): string {
  if (question.via === 'terminal' && question.receipt !== 'lost') return text.verdict.inTerminal
  const who = whoOf(question)
  return who && text.verdict.by(who)
}

/** Who answered: the name that was authenticated, and beside it the one that was only given. */
export function whoOf({ answeredBy, answeredAs }: Answerer): string {
  if (!answeredBy) return ''
  return answeredAs
    ? text.verdict.as(visible(answeredBy), visible(answeredAs))
    : visible(answeredBy)
}

type Answerer = Pick<Interaction, 'answeredBy' | 'answeredAs'>

function ruled(type: string, given: Readonly<Record<string, unknown>>): string {
  const [yes, no] = text.verdict.ruled[type] ?? [text.verdict.approved, text.verdict.rejected]
  if (given.approved === true && given.updatedInput) return text.verdict.edited
  if (given.approved === true) return given.always === true ? text.verdict.alwaysAllowed : yes
  const word = given.message ?? given.feedback
  return word ? `${no}: ${quoted(word)}` : no
}

function quoted(value: unknown): string {
  if (Array.isArray(value)) return value.map(quoted).join(', ')
  return typeof value === 'string' ? `“${visible(value)}”` : JSON.stringify(value)
}
