import type { Interaction } from '../server/types'

export type Manner = 'verdict' | 'option' | 'text' | 'elsewhere'

const MANNERS: Readonly<Record<string, Manner>> = {
  approval: 'verdict',
  confirmation: 'verdict',
  choice: 'option',
  select: 'option',
  input: 'text',
}

/** How a question is answered here; what is not known has to be answered where it was asked. */
export function mannerOf(question: Pick<Interaction, 'type'>): Manner {
  return MANNERS[question.type] ?? 'elsewhere'
}

/** What was answered, in words. */
export function verdictOf(question: Interaction): string {
  const { response, status } = question
  if (status === 'approved') return 'Approved'
  if (status === 'rejected') return 'Rejected'
  if (status !== 'completed') return ENDS[status] ?? status
  const given = response as { approved?: unknown; value?: unknown } | null
  if (given?.approved === true) return 'Approved'
  if (given?.approved === false) return 'Rejected'
  const value = given && typeof given === 'object' && 'value' in given ? given.value : response
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}

const ENDS: Readonly<Record<string, string>> = {
  cancelled: 'Taken back',
  timeout: 'The deadline passed',
  failed: 'Failed',
}
