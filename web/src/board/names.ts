import { visible } from '../parts/visible'
import type { Plate } from '../server/types'

const AGENTS: Readonly<Record<string, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
}

/** What people call an agent. */
export function agentName(agent: string): string {
  return AGENTS[agent] ?? visible(agent)
}

/** The last part of a path, by which people know a project. */
export function lastPart(path: string): string {
  return visible(path.replace(/\/+$/, '').split('/').at(-1) || path)
}

/** What a plate is called: the name that somebody gave it, or its project's. */
export function titleOf(plate: Pick<Plate, 'name' | 'projectPath' | 'plateId'>): string {
  if (plate.name) return visible(plate.name)
  return plate.projectPath ? lastPart(plate.projectPath) : plate.plateId
}

/** Whether a plate has this text in anything that the board shows of it. */
export function fits(plate: Plate, text: string): boolean {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return true
  const { name, projectPath, gitBranch, agent, sessionId, waitingFor, lastTool, status } = plate
  const shown = [name, projectPath, gitBranch, agent, agentName(agent), sessionId, waitingFor]
  return [...shown, lastTool, status, plate.prompt, plate.lastMessage].some((one) =>
    one?.toLowerCase().includes(wanted),
  )
}
