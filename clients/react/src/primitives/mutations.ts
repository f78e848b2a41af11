import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ForkOptions, InputPayload, StartOptions } from '../client/client.js'
import type { CancelRequest, ForkAt, PauseRequest } from '../client/wire.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import { keys } from './keys.js'

interface CreateSessionInput {
  readonly workflowId: string
  readonly input: unknown
  readonly options?: StartOptions | undefined
}

/** Start a session. */
export function useCreateSessionMutation() {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ workflowId, input, options }: CreateSessionInput) =>
      client.createSession(workflowId, input, options),
    onSuccess: () => void cache.invalidateQueries({ queryKey: keys.sessions }),
  })
}

/** Give a session another title. */
export function useRenameSessionMutation() {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ sessionId, title }: { sessionId: string; title: string | null }) =>
      client.renameSession(sessionId, title),
    onSuccess: (session) => {
      cache.setQueryData([...keys.session, session.sessionId], session)
      void cache.invalidateQueries({ queryKey: keys.sessions })
    },
  })
}

/** Forget a session. */
export function useDeleteSessionMutation() {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: (sessionId: string) => client.deleteSession(sessionId),
    onSuccess: () => void cache.invalidateQueries({ queryKey: keys.sessions }),
  })
}

/** Answer a question of a session. */
export function useSendInputMutation() {
  const client = useWorkflowClient()
  return useMutation({
    mutationFn: ({ sessionId, payload }: { sessionId: string; payload: InputPayload }) =>
      client.sendInput(sessionId, payload),
  })
}

/** Pause a session. */
export function usePauseMutation() {
  const client = useWorkflowClient()
  return useMutation({
    mutationFn: ({ sessionId, options }: { sessionId: string; options?: PauseRequest }) =>
      client.pause(sessionId, options),
  })
}

/** Let a session continue. */
export function useResumeMutation() {
  const client = useWorkflowClient()
  return useMutation({ mutationFn: (sessionId: string) => client.resume(sessionId) })
}

/** End a session. */
export function useCancelMutation() {
  const client = useWorkflowClient()
  return useMutation({
    mutationFn: ({ sessionId, options }: { sessionId: string; options?: CancelRequest }) =>
      client.cancel(sessionId, options),
  })
}

interface ForkInput {
  readonly sessionId: string
  readonly at: ForkAt | undefined
  readonly options: ForkOptions | undefined
}

/** Start a new session from a point of another; `retrySession` only of one that failed. */
export function useForkMutation(how: 'fork' | 'retrySession') {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ sessionId, at, options }: ForkInput) => client[how](sessionId, at, options),
    onSuccess: () => void cache.invalidateQueries({ queryKey: keys.sessions }),
  })
}
