import { useCallback } from 'react'
import type { Session } from '../client/wire.js'
import type { ConnectionStatus } from '../feeds/feed.js'
import { useSessionQuery } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'

/** How a session stands. */
export interface UseSessionResult {
  readonly session: Session | undefined
  readonly status: ConnectionStatus
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
}

/** How a session stands, kept current, without its events. */
export function useSession(sessionId: string | null): UseSessionResult {
  const feed = useBoardSubscription()
  const { data, isLoading, error, refetch } = useSessionQuery(sessionId)
  return {
    session: data,
    status: feed.status,
    isLoading,
    error: error ?? feed.error,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}
