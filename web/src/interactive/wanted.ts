import { objectOf, textOf } from '../asks/ask'
import type { Schema } from '../forms/schema'
import type { Interaction } from '../server/types'
import { text } from './text'

/** What kind of decision is wanted. */
export type Outcome =
  /** No one said: then yes, no, or words. */
  | { readonly kind: 'open' }
  | { readonly kind: 'approval' }
  | { readonly kind: 'selection'; readonly options: ReadonlyArray<string> }
  | { readonly kind: 'freeform' }
  | { readonly kind: 'structured'; readonly schema: Schema }

/** An interactive session, as it was asked for. */
export interface Wanted {
  readonly systemPrompt: string | null
  readonly context: Readonly<Record<string, unknown>> | null
  readonly model: string
  readonly cwd: string | null
  readonly mcpConfig: string | null
  readonly timeout: number | null
  readonly resumes: string | null
  readonly keepsTranscript: boolean
  readonly halts: boolean
  readonly participants: ReadonlyArray<string>
  readonly outcome: Outcome
}

/** How an interactive session is to be held; null for every other question. */
export function wantedOf({ type, config }: Pick<Interaction, 'type' | 'config'>): Wanted | null {
  if (type !== 'interactive_session') return null
  const told = objectOf(config)
  const context = objectOf(told.context)
  return {
    systemPrompt: textOf(told.systemPrompt),
    context: Object.keys(context).length > 0 ? context : null,
    model: textOf(told.model) ?? 'sonnet',
    cwd: textOf(told.cwd),
    mcpConfig: textOf(told.mcpConfig),
    timeout: typeof told.timeout === 'number' ? told.timeout : null,
    resumes: textOf(told.resumeSession),
    keepsTranscript: told.captureTranscript === true,
    halts: told.haltExecution === true,
    participants: textsOf(told.requiredParticipants),
    outcome: outcomeOf(told.outcomeSchema),
  }
}

function outcomeOf(told: unknown): Outcome {
  const schema = objectOf(told)
  switch (schema.type) {
    case 'approval':
    case 'freeform':
      return { kind: schema.type }
    case 'selection':
      return { kind: 'selection', options: textsOf(schema.options) }
    case 'structured':
      return { kind: 'structured', schema: objectOf(schema.jsonSchema) }
    default:
      // A JSON Schema may also stand there by itself.
      return Object.keys(schema).length > 0 ? { kind: 'structured', schema } : { kind: 'open' }
  }
}

function textsOf(value: unknown): ReadonlyArray<string> {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** What each of several people has decided so far; empty where one decides. */
export function decisionsOf(
  question: Pick<Interaction, 'type' | 'config' | 'response'>,
): ReadonlyArray<readonly [string, unknown]> {
  const participants = wantedOf(question)?.participants ?? []
  const told = objectOf(question.response)
  return participants.filter((name) => name in told).map((name) => [name, told[name]])
}

/** Who still has to decide. */
export function missingOf(question: Interaction): ReadonlyArray<string> {
  const decided = new Set(decisionsOf(question).map(([name]) => name))
  return (wantedOf(question)?.participants ?? []).filter((name) => !decided.has(name))
}

const ATTENDING = /^(.*) \(attend [^@]*@(.*)\)$/s

/** Who holds a session: a person in a terminal, or someone by the name that they gave. */
export function holderName(claimedBy: string): string {
  const found = ATTENDING.exec(claimedBy)
  return found ? text.inTerminal(found[1] ?? '', found[2] ?? '') : claimedBy
}
