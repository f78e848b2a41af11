import { useCallback } from 'react'
import type { ForkOptions } from '../client/client.js'
import type {
  CancelRequest,
  CancelResult,
  ForkAt,
  ForkResult,
  PauseRequest,
  PauseResult,
  ResumeResult,
} from '../client/wire.js'
import {
  useCancelMutation,
  useForkMutation,
  usePauseMutation,
  useResumeMutation,
} from '../primitives/mutations.js'

/** The buttons of a recorder. */
export interface WorkflowVCRResult {
  readonly pause: (sessionId: string, options?: PauseRequest) => Promise<PauseResult>
  readonly resume: (sessionId: string) => Promise<ResumeResult>
  /** Start a new session from a point of this one, with edits of its state if wanted. */
  readonly fork: (sessionId: string, at?: ForkAt, options?: ForkOptions) => Promise<ForkResult>
  /** Retry a failed session as a fork: from the failed phase, or from another point. */
  readonly retry: (sessionId: string, at?: ForkAt, options?: ForkOptions) => Promise<ForkResult>
  /** End a session permanently. */
  readonly cancel: (sessionId: string, options?: CancelRequest) => Promise<CancelResult>
  readonly isPausing: boolean
  readonly isResuming: boolean
  readonly isForking: boolean
  readonly isRetrying: boolean
  readonly isCancelling: boolean
}

/** Pause, resume, fork, retry and cancel sessions. */
export function useWorkflowVCR(): WorkflowVCRResult {
  const { mutateAsync: askPause, isPending: isPausing } = usePauseMutation()
  const { mutateAsync: askResume, isPending: isResuming } = useResumeMutation()
  const { mutateAsync: askFork, isPending: isForking } = useForkMutation('fork')
  const { mutateAsync: askRetry, isPending: isRetrying } = useForkMutation('retrySession')
  const { mutateAsync: askCancel, isPending: isCancelling } = useCancelMutation()
  const pause: WorkflowVCRResult['pause'] = useCallback(
    (sessionId, options) => askPause(options ? { sessionId, options } : { sessionId }),
    [askPause],
  )
  const resume = useCallback((sessionId: string) => askResume(sessionId), [askResume])
  const fork: WorkflowVCRResult['fork'] = useCallback(
    (sessionId, at, options) => askFork({ sessionId, at, options }),
    [askFork],
  )
  const retry: WorkflowVCRResult['retry'] = useCallback(
    (sessionId, at, options) => askRetry({ sessionId, at, options }),
    [askRetry],
  )
  const cancel: WorkflowVCRResult['cancel'] = useCallback(
    (sessionId, options) => askCancel(options ? { sessionId, options } : { sessionId }),
    [askCancel],
  )
  return {
    ...{ pause, resume, fork, retry, cancel },
    ...{ isPausing, isResuming, isForking, isRetrying, isCancelling },
  }
}
