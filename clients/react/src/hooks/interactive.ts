import { CallboardError, ValidationError } from '../client/errors.js'
import type { AskRequest, Interaction } from '../client/wire.js'

/** A schema that checks a value: zod's, or anything else with `parse`. */
export interface Schema<T> {
  parse(value: unknown): T
}

/** How an interactive session is to be held. Durations are milliseconds. */
export interface AskInteractiveOptions<T = unknown> {
  /** What the agent is told beside the prompt. */
  readonly systemPrompt?: string
  /** What the agent is to know. */
  readonly context?: Readonly<Record<string, unknown>>
  readonly model?: 'opus' | 'sonnet' | 'haiku'
  readonly cwd?: string
  readonly mcpConfig?: string
  readonly timeout?: number
  /** What kind of response is wanted. */
  readonly outcomeSchema?: {
    readonly type: 'approval' | 'selection' | 'freeform' | 'structured'
    readonly options?: ReadonlyArray<string>
    readonly jsonSchema?: Readonly<Record<string, unknown>>
  }
  /** Checks the response here; it is not sent. */
  readonly zodSchema?: Schema<T>
  readonly captureTranscript?: boolean
  readonly blockOrchestration?: boolean
}

/** How an interactive session ended. */
export interface InteractiveSessionResult<T = unknown> {
  readonly outcome: 'completed' | 'cancelled' | 'timeout' | 'failed'
  readonly response: T
  readonly transcript?: string
  readonly duration: number
  readonly error?: string
}

/** What is sent to ask for one. */
export function questionOf<T>(
  prompt: string,
  options: AskInteractiveOptions<T> | undefined,
  sessionId: string | undefined,
): AskRequest {
  const { zodSchema: _, ...config } = options ?? {}
  const within = sessionId === undefined ? {} : { sessionId }
  return { type: 'interactive_session', prompt, config, ...within }
}

/** What the end of one means; one that failed, or a response that does not fit, is an error. */
export function resultOf<T>(
  ended: Interaction,
  options: AskInteractiveOptions<T> | undefined,
): InteractiveSessionResult<T> {
  const why = typeof ended.error === 'string' ? ended.error : undefined
  if (ended.status === 'failed') {
    throw new CallboardError(why ?? 'The session failed.', 'INTERACTIVE_FAILED')
  }
  const isEarly = ended.status === 'cancelled' || ended.status === 'timeout'
  return {
    outcome: isEarly ? (ended.status as 'cancelled' | 'timeout') : 'completed',
    response: isEarly ? (ended.response as T) : checked(ended.response, options?.zodSchema),
    ...(ended.transcript !== null && { transcript: ended.transcript }),
    duration: ended.durationMs ?? 0,
    ...(why !== undefined && { error: why }),
  }
}

function checked<T>(response: unknown, schema: Schema<T> | undefined): T {
  if (!schema) return response as T
  try {
    return schema.parse(response)
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error)
    throw new ValidationError(`The response does not fit zodSchema: ${told}`, 'VALIDATION_ERROR')
  }
}
