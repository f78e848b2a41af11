import { askOf } from '../asks/ask'
import { agentName } from '../board/names'
import { grouped } from '../parts/grouped'
import type { Interaction } from '../server/types'
import { text } from './text'

/** What is looked for in the inbox; an empty text means anything. */
export interface Filters {
  readonly q: string
  readonly workflow: string
  readonly type: string
  readonly assigned: string
  readonly from: string
}

/** The filters, as the parameters of the address are called. */
export const FILTERS: ReadonlyArray<keyof Filters> = ['q', 'workflow', 'type', 'assigned', 'from']

/** How the list is divided. */
export type Grouping = '' | 'workflow' | 'session' | 'type'

/** Whether anything is looked for. */
export function isFiltered(filters: Filters): boolean {
  return FILTERS.some((name) => filters[name] !== '')
}

/** The questions that fit everything that is looked for. `mine` are the names of who looks. */
export function fitting(
  questions: ReadonlyArray<Interaction>,
  filters: Filters,
  mine: ReadonlyArray<string>,
): ReadonlyArray<Interaction> {
  if (!isFiltered(filters)) return questions
  const words = filters.q.toLowerCase().split(/\s+/).filter(Boolean)
  return questions.filter(
    (one) =>
      (!filters.workflow || one.workflow === filters.workflow) &&
      (!filters.type || typeOf(one) === filters.type) &&
      isAssigned(one, filters.assigned, mine) &&
      isFrom(one, filters.from) &&
      contains(one, words),
  )
}

function contains({ prompt }: Interaction, words: ReadonlyArray<string>): boolean {
  if (words.length === 0) return true
  const text = prompt.toLowerCase()
  return words.every((word) => text.includes(word))
}

function isAssigned(one: Interaction, wanted: string, mine: ReadonlyArray<string>): boolean {
  if (wanted === 'none') return !one.assignedTo?.length
  if (wanted === 'me') return isMine(one, mine)
  return !wanted || (one.assignedTo?.includes(wanted) ?? false)
}

/** Whether a question is assigned to one of these names. */
export function isMine({ assignedTo }: Interaction, mine: ReadonlyArray<string>): boolean {
  return assignedTo?.some((name) => mine.includes(name)) ?? false
}

function isFrom(one: Interaction, wanted: string): boolean {
  return !wanted || (askOf(one) !== null) === (wanted === 'agents')
}

/** The type as people are told it: choices come under two names. */
export function typeOf({ type }: Interaction): string {
  return type === 'select' ? 'choice' : type
}

/** What a list shows: headings of groups, and questions. */
export type ListRow =
  | { readonly heading: string; readonly count: number; readonly question?: undefined }
  | { readonly question: Interaction; readonly place: number }

/** The rows of a list: questions in their order, under the heading of their group. */
export function rowsOf(
  questions: ReadonlyArray<Interaction>,
  grouping: Grouping,
): ReadonlyArray<ListRow> {
  if (!grouping) return questions.map((question, place) => ({ question, place }))
  // A group stands where its most urgent question would.
  const groups = grouped(questions, (one) => groupOf(one, grouping))
  let place = 0
  return [...groups].flatMap(([heading, members]): ListRow[] => [
    { heading, count: members.length },
    ...members.map((question) => ({ question, place: place++ })),
  ])
}

function groupOf(one: Interaction, grouping: Grouping): string {
  if (grouping === 'type') return text.types[one.type] ?? one.type
  const ask = askOf(one)
  if (grouping === 'workflow') {
    return one.workflow ?? (ask ? agentName(ask.agent) : text.row.standalone)
  }
  return one.sessionId ?? text.row.standalone
}

/** The workflows that ask, and the types of what they ask, in the order of the alphabet. */
export function choicesOf(questions: ReadonlyArray<Interaction>) {
  const workflows = new Set(questions.flatMap(({ workflow }) => workflow ?? []))
  const types = new Set(questions.map(typeOf))
  return { workflows: [...workflows].sort(), types: [...types].sort() }
}
