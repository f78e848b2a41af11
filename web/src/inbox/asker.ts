import { askOf } from '../asks/ask'
import { agentName, lastPart } from '../board/names'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { text } from './text'

/** What asks: the workflow and its session, or the agent and where it works. */
export function askerOf(question: Interaction): string {
  const ask = askOf(question)
  if (ask) {
    const { subagent } = ask
    const name = agentName(ask.agent)
    const agent = subagent ? text.row.subagent(visible(subagent.name), name) : name
    return ask.cwd ? text.row.where(agent, lastPart(ask.cwd)) : agent
  }
  const { workflow, sessionTitle, phase } = question
  if (!workflow) return isAboutBudget(question) ? text.row.budget : text.row.standalone
  return [workflow, sessionTitle ?? phase]
    .flatMap((part) => part ?? [])
    .map(visible)
    .join(' · ')
}

function isAboutBudget({ config }: Interaction): boolean {
  return typeof config === 'object' && config !== null && 'budget' in config
}
