import { text } from '../parts/text'
import { visible } from '../parts/visible'
import type { Plate } from '../server/types'

const AGENTS: Readonly<Record<string, string>> = text.agents

/** What people call an agent. */
export function agentName(agent: string): string {
  return AGENTS[agent] ?? visible(agent)
}

/** The last part of a path, by which people know a project. */
export function lastPart(path: string): string {
  return visible(path.replace(/\/+$/, '').split('/').at(-1) || path)
}

/** What a plate is called: the name that it was given, or its project's. */
export function titleOf(plate: Pick<Plate, 'name' | 'projectPath' | 'plateId'>): string {
  if (plate.name) return visible(plate.name)
  return plate.projectPath ? lastPart(plate.projectPath) : plate.plateId
}

/** Whether a plate has each of these words in anything that the board shows of it. */
export function fits(plate: Plate, sought: string): boolean {
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return true
  const { name, projectPath, gitBranch, agent, sessionId, waitingFor, lastTool, status } = plate
  const shown = [name, projectPath, gitBranch, agent, agentName(agent), sessionId, waitingFor]
  const all = [...shown, lastTool, status, plate.prompt, plate.lastMessage, plate.hostName]
  const found = all.join('\n').toLowerCase()
  return words.every((word) => found.includes(word))
}
