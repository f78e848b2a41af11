import { useCallback } from 'react'
import type { InputPayload, StartOptions } from '../client/client.js'
import type { Session } from '../client/wire.js'
import {
  useCreateSessionMutation,
  useDeleteSessionMutation,
  useRenameSessionMutation,
  useSendInputMutation,
} from '../primitives/mutations.js'

/** What one can do without a session of one's own at hand. */
export interface WorkflowActionsResult {
  /** Start a session; gives its id. */
  readonly create: (workflowId: string, input?: unknown, options?: StartOptions) => Promise<string>
  /** Answer a question of a session. */
  readonly send: (sessionId: string, payload: InputPayload) => Promise<void>
  /** Give a session another title; null takes its title away. */
  readonly rename: (sessionId: string, title: string | null) => Promise<Session>
  /** Forget a session permanently. */
  readonly remove: (sessionId: string) => Promise<void>
  readonly isCreating: boolean
  readonly isSending: boolean
  readonly isRemoving: boolean
}

/** Start, answer and forget sessions. */
export function useWorkflowActions(): WorkflowActionsResult {
  const { mutateAsync: start, isPending: isCreating } = useCreateSessionMutation()
  const { mutateAsync: sendInput, isPending: isSending } = useSendInputMutation()
  const { mutateAsync: retitle } = useRenameSessionMutation()
  const { mutateAsync: forget, isPending: isRemoving } = useDeleteSessionMutation()
  const create: WorkflowActionsResult['create'] = useCallback(
    (workflowId, input, options) => start({ workflowId, input, options }),
    [start],
  )
  const send: WorkflowActionsResult['send'] = useCallback(
    (sessionId, payload) => sendInput({ sessionId, payload }),
    [sendInput],
  )
  const rename: WorkflowActionsResult['rename'] = useCallback(
    (sessionId, title) => retitle({ sessionId, title }),
    [retitle],
  )
  const remove = useCallback((sessionId: string) => forget(sessionId), [forget])
  return { create, send, rename, remove, isCreating, isSending, isRemoving }
}
