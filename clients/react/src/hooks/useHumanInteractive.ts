import { useCallback, useRef, useState } from 'react'
import { useAsking } from '../primitives/useAsking.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import {
  type AskInteractiveOptions,
  type InteractiveSessionResult,
  questionOf,
  resultOf,
} from './interactive.js'

/** An interactive session that was asked for. */
export interface UseHumanInteractiveResult<T = unknown> {
  /** Ask, and look at `status` and `data`. */
  readonly request: (prompt: string, options?: AskInteractiveOptions<T>) => void
  /** Ask, and wait for the end. */
  readonly requestAsync: (
    prompt: string,
    options?: AskInteractiveOptions<T>,
  ) => Promise<InteractiveSessionResult<T>>
  readonly status: 'idle' | 'pending' | 'success' | 'error'
  readonly data: InteractiveSessionResult<T> | null
  readonly error: Error | null
  /** The id of what was asked for. */
  readonly sessionId: string | null
  /** Take it back, if it is still open. */
  readonly cancel: () => void
  /** Begin anew, without looking at what was asked for any more. */
  readonly reset: () => void
}

interface Progress<T> {
  readonly status: UseHumanInteractiveResult<T>['status']
  readonly data: InteractiveSessionResult<T> | null
  readonly error: Error | null
  readonly sessionId: string | null
}

const IDLE = { status: 'idle', data: null, error: null, sessionId: null } as const

/** Ask people for a session with an agent, one at a time. */
export function useHumanInteractive<T = unknown>(
  where: { readonly sessionId?: string } = {},
): UseHumanInteractiveResult<T> {
  const client = useWorkflowClient()
  const asking = useAsking()
  const [progress, setProgress] = useState<Progress<T>>(IDLE)
  // Which request counts. Known at once, where state would only be known after a render.
  const current = useRef<{ id: string | null; isCancelled: boolean } | null>(null)
  const { sessionId } = where

  const requestAsync: UseHumanInteractiveResult<T>['requestAsync'] = useCallback(
    async (prompt, options) => {
      if (current.current) {
        throw new Error('Cannot create a new interactive session while one is already pending')
      }
      const own = { id: null as string | null, isCancelled: false }
      current.current = own
      const show = (now: Partial<Progress<T>>) => {
        if (current.current === own) setProgress({ ...IDLE, sessionId: own.id, ...now })
      }
      show({ status: 'pending' })
      try {
        const ended = await asking(questionOf(prompt, options, sessionId), ({ id }) => {
          own.id = id
          show({ status: 'pending' })
          if (own.isCancelled) void client.cancelInteraction(id).catch(() => {})
        })
        const data = resultOf<T>(ended, options)
        show({ status: 'success', data })
        return data
      } catch (error) {
        show({ status: 'error', error: error as Error })
        throw error
      } finally {
        if (current.current === own) current.current = null
      }
    },
    [asking, client, sessionId],
  )

  const request: UseHumanInteractiveResult<T>['request'] = useCallback(
    (prompt, options) => {
      if (current.current) {
        throw new Error('Cannot create a new interactive session while one is already pending')
      }
      // What went wrong stands in `error`.
      requestAsync(prompt, options).catch(() => {})
    },
    [requestAsync],
  )

  const cancel = useCallback(() => {
    const own = current.current
    if (!own) return
    own.isCancelled = true
    // It may have ended just now; then its end counts.
    if (own.id) void client.cancelInteraction(own.id).catch(() => {})
  }, [client])

  const reset = useCallback(() => {
    current.current = null
    setProgress(IDLE)
  }, [])

  return { request, requestAsync, ...progress, cancel, reset }
}
