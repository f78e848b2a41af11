import { text } from '../parts/text'
import type { Interaction } from '../server/types'

/** One question of a coding agent, with what can be chosen. */
export interface AgentQuestion {
  readonly question: string
  readonly header: string
  readonly options: ReadonlyArray<AgentOption>
  readonly multiSelect: boolean
  /** How many options were left out because they are too long, or too many. */
  readonly omitted: number
}

/** What can be chosen; the preview shows what choosing it looks like. */
export interface AgentOption {
  readonly label: string
  readonly description: string
  readonly preview: string
}

/** What a coding agent asks, as far as it is told. */
export interface Ask {
  /** Whose it is on the board; null for an agent of a session. */
  readonly plateId: string | null
  readonly agent: string
  readonly toolName: string
  readonly toolInput: Readonly<Record<string, unknown>>
  readonly suggestions: ReadonlyArray<unknown>
  readonly questions: ReadonlyArray<AgentQuestion>
  /** How many questions were left out because they are too long, or too many. */
  readonly omitted: number
  readonly plan: string | null
  readonly cwd: string | null
  /** Whether only a part is known here: then no one can have read the rest. */
  readonly truncated: boolean
  /** Whether the agent runs an edited call. */
  readonly editable: boolean
  /** The subagent that asks, and whose it is; null if the agent itself asks. */
  readonly subagent: Subagent | null
}

/** A part of an agent that works on its own. */
export interface Subagent {
  readonly id: string
  readonly name: string
  readonly parent: string
}

type Told = Readonly<Record<string, unknown>>

const BY_AGENTS = ['permission', 'plan', 'question']

/** What a coding agent asks with this question; null for what workflows and programs ask. */
export function askOf(question: Pick<Interaction, 'type' | 'config'>): Ask | null {
  const config = objectOf(question.config)
  const plateId = textOf(config.plateId)
  if (plateId === null && !BY_AGENTS.includes(question.type)) return null
  const toolInput = inputOf(config.toolInput)
  const plan = textOf(config.plan) ?? textOf(toolInput.plan)
  return {
    plateId,
    agent: textOr(config.agent, text.anAgent),
    toolName: textOr(config.toolName, ''),
    toolInput,
    suggestions: listOf(config.suggestions),
    questions: listOf(config.questions ?? toolInput.questions).map(questionOf),
    omitted: countOf(config.omitted),
    plan,
    cwd: textOf(config.cwd),
    truncated: config.truncated === true && !isWhole(config.plan),
    editable: config.editable === true,
    subagent: subagentOf(config.subagent),
  }
}

function subagentOf(told: unknown): Subagent | null {
  const { id: given, name, parent } = objectOf(told)
  const id = textOf(given)
  return id === null ? null : { id, name: textOr(name, ''), parent: textOr(parent, '') }
}

/** The input that a person let the tool run with instead; null without one. */
export function editedOf(question: Pick<Interaction, 'accepted' | 'response'>): Told | null {
  const given = objectOf(question.accepted ?? question.response).updatedInput
  return typeof given === 'object' && given !== null ? objectOf(given) : null
}

/** An input that JSON cannot hold is told as text: it is shown all the same. */
function inputOf(told: unknown): Told {
  const isOther = Array.isArray(told) || (typeof told !== 'object' && told !== undefined)
  return isOther ? { input: told } : objectOf(told)
}

const CUT = /… [\d,]+ characters not shown …|…$/

/** A plan is kept beside its call, and may be whole where that is not; where it was cut, it says so. */
function isWhole(plan: unknown): boolean {
  return typeof plan === 'string' && !CUT.test(plan)
}

function questionOf(told: unknown): AgentQuestion {
  const { question, header, options, multiSelect, omitted } = objectOf(told)
  return {
    question: textOr(question, ''),
    header: textOr(header, ''),
    options: listOf(options).map(optionOf),
    multiSelect: multiSelect === true,
    omitted: countOf(omitted),
  }
}

function optionOf(told: unknown): AgentOption {
  if (typeof told === 'string') return { label: told, description: '', preview: '' }
  const { label, description, preview } = objectOf(told)
  return {
    label: textOr(label, ''),
    description: textOr(description, ''),
    preview: textOr(preview, ''),
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** An object as it is, and anything else as an empty one. */
export function objectOf(value: unknown): Told {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Told) : {}
}

function listOf(value: unknown): ReadonlyArray<unknown> {
  return Array.isArray(value) ? value : []
}

/** A text as it is; null for anything else, and for an empty one. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function textOr(value: unknown, otherwise: string): string {
  return textOf(value) ?? otherwise
}
