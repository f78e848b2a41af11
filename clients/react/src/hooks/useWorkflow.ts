import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ForkOptions, InputPayload } from '../client/client.js'
import { type PendingInteraction, summarise } from '../client/summary.js'
import type { CancelResult, ForkAt, ForkResult, PauseResult, ResumeResult } from '../client/wire.js'
import { stateQuery } from '../primitives/queries.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import { useWorkflowActions } from './useWorkflowActions.js'
import { useWorkflowData, type WorkflowDataResult } from './useWorkflowData.js'
import { useWorkflowHITL } from './useWorkflowHITL.js'
import { useWorkflowVCR } from './useWorkflowVCR.js'

/** Everything about one session. */
export interface UseWorkflowResult<S> extends WorkflowDataResult<S> {
  readonly isConnected: boolean

  /** Started, not paused, not at its end; one that waits for a person runs too. */
  readonly isRunning: boolean
  readonly isPaused: boolean
  readonly isCompleted: boolean
  readonly isFailed: boolean
  readonly isCancelled: boolean

  readonly pendingInteractions: ReadonlyArray<PendingInteraction>

  readonly send: (payload: InputPayload) => Promise<void>
  readonly pause: () => Promise<PauseResult>
  readonly resume: () => Promise<ResumeResult>
  readonly fork: (at?: ForkAt, options?: ForkOptions) => Promise<ForkResult>
  /** If it failed, as a fork: from the failed phase, or from another point. */
  readonly retry: (at?: ForkAt, options?: ForkOptions) => Promise<ForkResult>
  readonly cancel: (reason?: string) => Promise<CancelResult>
  /** The state after the first N events, for scrubbing. */
  readonly stateAt: (position: number) => Promise<S>

  readonly isSending: boolean
  readonly isPausing: boolean
  readonly isResuming: boolean
  readonly isForking: boolean
  readonly isRetrying: boolean
  readonly isCancelling: boolean
}

/** A session's events, state and questions, kept current, and what can be done to it. */
export function useWorkflow<S = unknown>(sessionId: string | null): UseWorkflowResult<S> {
  const data = useWorkflowData<S>(sessionId)
  const { pending } = useWorkflowHITL(sessionId)
  const { status } = summarise(data.events)
  return {
    ...data,
    isConnected: data.status === 'connected',
    isRunning: status === 'running',
    isPaused: status === 'paused',
    isCompleted: status === 'completed',
    isFailed: status === 'failed',
    isCancelled: status === 'cancelled',
    pendingInteractions: pending,
    ...useBoundActions<S>(sessionId),
  }
}

/** What can be done, to this session. The functions stay the same from render to render. */
function useBoundActions<S>(sessionId: string | null) {
  const { send, isSending } = useWorkflowActions()
  const { pause, resume, fork, retry, cancel, ...progress } = useWorkflowVCR()
  const client = useWorkflowClient()
  const cache = useQueryClient()
  return {
    send: useCallback((payload: InputPayload) => send(some(sessionId), payload), [send, sessionId]),
    // Takes nothing: `onClick={pause}` would hand it a click.
    pause: useCallback(() => pause(some(sessionId)), [pause, sessionId]),
    resume: useCallback(() => resume(some(sessionId)), [resume, sessionId]),
    fork: useCallback(
      (at?: ForkAt, options?: ForkOptions) => fork(some(sessionId), at, options),
      [fork, sessionId],
    ),
    retry: useCallback(
      (at?: ForkAt, options?: ForkOptions) => retry(some(sessionId), at, options),
      [retry, sessionId],
    ),
    cancel: useCallback(
      (reason?: string) => cancel(some(sessionId), typeof reason === 'string' ? { reason } : {}),
      [cancel, sessionId],
    ),
    stateAt: useCallback(
      (position: number) => cache.fetchQuery(stateQuery<S>(client, some(sessionId), position)),
      [cache, client, sessionId],
    ),
    isSending,
    ...progress,
  }
}

function some(sessionId: string | null): string {
  if (!sessionId) throw new Error('No session connected')
  return sessionId
}
