import type { AgentQuestion } from './ask'

/** What a person has chosen so far for one question: labels, and a text of their own. */
export interface Chosen {
  readonly labels: ReadonlyArray<string>
  readonly own: string
}

export const NOTHING: Chosen = { labels: [], own: '' }

/** What is chosen after a click on an option. */
export function toggled(question: AgentQuestion, chosen: Chosen, label: string): Chosen {
  const others = chosen.labels.filter((one) => one !== label)
  const isChosen = others.length < chosen.labels.length
  if (!question.multiSelect) return { labels: isChosen ? [] : [label], own: '' }
  // In the order in which they are offered, however they were clicked.
  const labels = isChosen ? others : [...others, label]
  const order = question.options.map((option) => option.label)
  return { ...chosen, labels: labels.sort((a, b) => order.indexOf(a) - order.indexOf(b)) }
}

/** What is chosen after a text was written: where one answer counts, it takes the others' place. */
export function written(question: AgentQuestion, chosen: Chosen, own: string): Chosen {
  return { labels: question.multiSelect || own === '' ? chosen.labels : [], own }
}

/** The answer to one question; null while nothing is chosen. */
export function answerOf(question: AgentQuestion, chosen: Chosen): string | string[] | null {
  const own = chosen.own.trim()
  const all = [...chosen.labels, ...(own ? [own] : [])]
  if (all.length === 0) return null
  return question.multiSelect ? all : (all[0] ?? null)
}

/** The answers to all questions; null while one is missing. */
export function answersOf(
  questions: ReadonlyArray<AgentQuestion>,
  chosen: Readonly<Record<string, Chosen>>,
): Record<string, string | string[]> | null {
  const answers: Record<string, string | string[]> = {}
  for (const question of questions) {
    const answer = answerOf(question, chosen[question.question] ?? NOTHING)
    if (answer === null) return null
    answers[question.question] = answer
  }
  return answers
}
