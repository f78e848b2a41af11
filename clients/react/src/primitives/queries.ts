import { skipToken, useQuery } from '@tanstack/react-query'
import type { CallboardClient } from '../client/client.js'
import { isPassing } from '../client/errors.js'
import type { SerializedEvent } from '../client/events.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import { keys } from './keys.js'

const TRIES = 3
const STATE_KEPT_MS = 30_000

/** Try again where that may help: not for a token that is refused or a session that is gone. */
export function retry(failures: number, error: Error): boolean {
  return failures < TRIES && isPassing(error)
}

/** A session's events. The feed puts them here; there is nothing to fetch. */
export function useEventsQuery(sessionId: string | null) {
  return useQuery<ReadonlyArray<SerializedEvent>>({
    queryKey: keys.events(sessionId ?? ''),
    queryFn: skipToken,
    staleTime: Number.POSITIVE_INFINITY,
    // Comparing all events of before with all events of now would cost more than showing them.
    structuralSharing: false,
  })
}

/** How a session stands. */
export function useSessionQuery(sessionId: string | null) {
  const client = useWorkflowClient()
  return useQuery({
    queryKey: [...keys.session, sessionId ?? ''],
    queryFn: sessionId ? ({ signal }) => client.getSession(sessionId, signal) : skipToken,
    retry,
  })
}

/** The query of a state at a position. What was at a position stays so for ever. */
export function stateQuery<S>(client: CallboardClient, sessionId: string, position: number) {
  return {
    queryKey: keys.state(sessionId, position),
    queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
      client.getStateAt<S>(sessionId, position, signal),
    staleTime: Number.POSITIVE_INFINITY,
    // A session that changes often leaves a state for each change, and states can be large.
    gcTime: STATE_KEPT_MS,
    structuralSharing: false,
    retry,
  }
}

/** A session's state at a position; until it is there, the one before it of the same session. */
export function useStateAtQuery<S>(sessionId: string | null, position: number) {
  const client = useWorkflowClient()
  const wanted = stateQuery<S>(client, sessionId ?? '', position)
  return useQuery<S>({
    ...wanted,
    enabled: sessionId !== null && position > 0,
    placeholderData: (previous, query) =>
      query?.queryKey[1] === sessionId ? (previous as never) : undefined,
  })
}
