import { objectOf } from '../asks/ask'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'

export type Manner = 'verdict' | 'option' | 'text' | 'ruling' | 'answers' | 'elsewhere'

const MANNERS: Readonly<Record<string, Manner>> = {
  approval: 'verdict',
  confirmation: 'verdict',
  choice: 'option',
  select: 'option',
  input: 'text',
  permission: 'ruling',
  plan: 'ruling',
  question: 'answers',
}

/** How a question is answered here; what is not known has to be answered where it was asked. */
export function mannerOf(question: Pick<Interaction, 'type'>): Manner {
  return MANNERS[question.type] ?? 'elsewhere'
}

/** What was answered, in words. */
export function verdictOf(question: Interaction): string {
  const { response, status, type } = question
  if (status === 'approved') return 'Approved'
  if (status === 'rejected') return 'Rejected'
  if (status !== 'completed') return ENDS[status] ?? status
  const given = objectOf(response)
  if (typeof given.approved === 'boolean') return ruled(type, given)
  const answers = Object.values(objectOf(given.answers))
  if (answers.length > 0) return answers.map(quoted).join(', ')
  return quoted('value' in given ? given.value : response)
}

/** How a question ended that was answered in the agent's own terminal, or left there. */
export function whereOf({ via, answeredBy }: Interaction): string {
  if (via === 'terminal') return 'in the terminal'
  return answeredBy ? `by ${answeredBy}` : ''
}

function ruled(type: string, given: Readonly<Record<string, unknown>>): string {
  const [yes, no] = type === 'permission' ? ['Allowed', 'Denied'] : ['Approved', 'Rejected']
  if (given.approved === true) return given.always === true ? `${yes}, from now on` : yes
  const word = given.message ?? given.feedback
  return word ? `${no}: ${quoted(word)}` : no
}

function quoted(value: unknown): string {
  if (Array.isArray(value)) return value.map(quoted).join(', ')
  return typeof value === 'string' ? `“${visible(value)}”` : JSON.stringify(value)
}

const ENDS: Readonly<Record<string, string>> = {
  cancelled: 'Taken back',
  timeout: 'The deadline passed',
  failed: 'Failed',
}
