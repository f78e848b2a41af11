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
  /** Which model; else `sonnet`. */
  readonly model?: 'opus' | 'sonnet' | 'haiku' | (string & {})
  /** Where the agent works. Default: the folder of the harness that holds the session. */
  readonly cwd?: string
  /** A file that names further tools. */
  readonly mcpConfig?: string
  /** How long the session may take once it is held. */
  readonly timeout?: number
  /** What kind of response is wanted. */
  readonly outcomeSchema?: {
    readonly type: 'approval' | 'selection' | 'freeform' | 'structured'
    /** What can be selected. */
    readonly options?: ReadonlyArray<string>
    /** The JSON Schema that a structured response fits. */
    readonly jsonSchema?: Readonly<Record<string, unknown>>
  }
  /** Checks the response here; it is not sent. */
  readonly zodSchema?: Schema<T>
  /** Keep what was said. Only when asked for. */
  readonly captureTranscript?: boolean
  /** The workflow does not complete before the session has ended. So it is unless told otherwise. */
  readonly blockOrchestration?: boolean
  /** The workflow does nothing at all before the session has ended. */
  readonly haltExecution?: boolean
  /** Several may attend at once, and the first decision counts. */
  readonly collaborative?: boolean
  /** All of these decide, each for themselves; then `response` holds what each of them did. */
  readonly requiredParticipants?: ReadonlyArray<string>
  /** Continue with that earlier session of the agent. */
  readonly resumeSession?: string
  /** Whom to tell that someone is needed. */
  readonly notify?: Readonly<Record<string, unknown>>
  /** How often to save where the session stands, for when its harness dies. */
  readonly checkpointInterval?: number
  /** A name of your own: asked for again under it, the same session is found, ended or not. */
  readonly key?: string
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
  const { zodSchema: _, key, ...config } = options ?? {}
  return {
    type: 'interactive_session',
    prompt,
    config,
    ...(sessionId !== undefined && { sessionId }),
    ...(key !== undefined && { key }),
  }
}

/** What the end of one means; one that failed, or a response that does not fit, is an error. */
export function resultOf<T>(
  ended: Interaction,
  schema: Schema<T> | undefined,
): InteractiveSessionResult<T> {
  const { id, type, status, transcript } = ended
  if (type !== 'interactive_session') {
    throw new ValidationError(
      `${id} is not an interactive session but of type ${type}.`,
      'VALIDATION_ERROR',
    )
  }
  const why = ended.error ?? undefined
  if (status === 'failed') throw new CallboardError(why ?? 'Session failed', 'INTERACTIVE_FAILED')
  const isEarly = status === 'cancelled' || status === 'timeout'
  return {
    outcome: isEarly ? status : 'completed',
    response: isEarly ? (ended.response as T) : checked(ended.response, schema),
    ...(transcript !== null && { transcript }),
    duration: ended.durationMs ?? 0,
    ...(why !== undefined && { error: why }),
  }
}

function checked<T>(response: unknown, schema: Schema<T> | undefined): T {
  if (!schema) return response as T
  try {
    return schema.parse(response)
  } catch (error) {
    const { message = String(error), issues } = error as { message?: string; issues?: unknown }
    const text = `The response does not fit zodSchema: ${message}`
    throw new ValidationError(text, 'VALIDATION_ERROR', 0, { issues })
  }
}
