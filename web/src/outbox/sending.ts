import { Conflict } from '@callboard/react'
import { askOf } from '../asks/ask'
import { say } from '../parts/Toasts'
import { firstLine } from '../parts/visible'
import { titleOf } from '../prompts/folding'
import type { Interaction } from '../server/types'
import { noteAnswered } from './moving'
import { type Batch, canWait, hold, type Outgoing } from './outbox'
import { isShown } from './shown'
import { text } from './text'

/** An answer, and how it is sent. */
export interface Answering {
  readonly question: Interaction
  /** The body that is sent. */
  readonly given: object
  readonly route?: Outgoing['route']
  readonly send: () => Promise<unknown>
  readonly batch?: Batch | null
  /** Called when it did not count. */
  readonly onError?: (error: Error) => void
}

/**
 * Send an answer in a few seconds, in which it can be undone, and return true; or send it at once.
 * A coding agent waits for its answer, and shows what it did with it.
 */
export function sendAnswer(answering: Answering): boolean {
  const { question, given, route = 'answer', batch = null, onError } = answering
  const { id, deadline } = question
  noteAnswered(id)
  const send = () =>
    answering.send().catch((error: Error) => {
      onError?.(error)
      // A conflict has been shown already.
      if (!isShown(id) && !(error instanceof Conflict)) say(text.notSent(error.message))
    })
  if (askOf(question) || !canWait(given, deadline)) {
    void send()
    return false
  }
  hold({ id, title: titleOf(firstLine(question.prompt)), route, given, batch, send })
  return true
}
