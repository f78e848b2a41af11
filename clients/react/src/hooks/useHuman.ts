import { useCallback } from 'react'
import { InteractionClosed } from '../client/errors.js'
import type { AskRequest, Interaction } from '../client/wire.js'
import { useAsking } from '../primitives/useAsking.js'

/** What kind of answer is wanted; without any of it, yes or no. */
export interface AskOptions {
  /** What to choose from. `Yes` and `No` alone ask for an approval, answered with true or false. */
  readonly options?: ReadonlyArray<string>
  /** Ask for text. */
  readonly input?: boolean
  /** Ask within this session. */
  readonly sessionId?: string
}

/** How to ask people. */
export interface UseHumanResult {
  /** Ask, and wait for the answer: true or false, the option, or the text. */
  readonly ask: <T = unknown>(prompt: string, options?: AskOptions) => Promise<T>
}

/** Put simple questions to people. */
export function useHuman(): UseHumanResult {
  const { ask: put } = useAsking()
  const ask = useCallback(
    async <T>(prompt: string, options: AskOptions = {}): Promise<T> =>
      answerOf(await put(questionOf(prompt, options))) as T,
    [put],
  )
  return { ask }
}

function questionOf(prompt: string, { options, input, sessionId }: AskOptions): AskRequest {
  const within = sessionId === undefined ? {} : { sessionId }
  if (input) return { type: 'input', prompt, ...within }
  if (!options || isYesNo(options)) return { type: 'confirmation', prompt, ...within }
  return { type: 'select', prompt, options, ...within }
}

function isYesNo(options: ReadonlyArray<string>): boolean {
  return options.map((one) => one.toLowerCase()).join() === 'yes,no'
}

function answerOf({ id, type, status, response }: Interaction): unknown {
  if (type === 'confirmation' && status !== 'cancelled' && status !== 'timeout') {
    return status === 'approved'
  }
  if (status === 'completed') return (response as { readonly value?: unknown } | null)?.value
  throw new InteractionClosed(`Question ${id} was not answered: ${status}.`, 'INTERACTION_CLOSED')
}
