import { useCallback } from 'react'
import { type PendingInteraction, summarise } from '../client/summary.js'
import { useSendInputMutation } from '../primitives/mutations.js'
import { useEventsQuery } from '../primitives/queries.js'
import { useEventSubscription } from '../primitives/subscription.js'

/** The questions of a session. */
export interface WorkflowHITLResult {
  /** Approvals and choices that wait for an answer. */
  readonly pending: ReadonlyArray<PendingInteraction>
  /** Answer one. Rejects with `AlreadyAnswered` when someone else was first. */
  readonly respond: (
    sessionId: string,
    interactionId: string,
    value: string,
    approved?: boolean,
  ) => Promise<void>
  readonly isResponding: boolean
}

const NONE: ReadonlyArray<PendingInteraction> = []

/** What a session asks, and how to answer. */
export function useWorkflowHITL(sessionId: string | null): WorkflowHITLResult {
  useEventSubscription(sessionId)
  const events = useEventsQuery(sessionId).data
  const { mutateAsync, isPending } = useSendInputMutation()
  const respond: WorkflowHITLResult['respond'] = useCallback(
    (id, interactionId, value, approved) =>
      mutateAsync({ sessionId: id, payload: { id: interactionId, value, approved } }),
    [mutateAsync],
  )
  const pending = sessionId && events ? summarise(events).pending : NONE
  return { pending, respond, isResponding: isPending }
}
