import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { SessionFilters } from '../client/client.js'
import type { Session } from '../client/wire.js'
import type { ConnectionStatus } from '../feeds/feed.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

/** Sessions, newest first. */
export interface UseSessionsResult {
  readonly sessions: ReadonlyArray<Session>
  readonly status: ConnectionStatus
  readonly hasNextPage: boolean
  readonly fetchNextPage: () => void
  readonly isFetchingNextPage: boolean
  readonly isLoading: boolean
  /** Whether what is shown still belongs to the filters of before. */
  readonly isPlaceholderData: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
}

/** The sessions that fit the filters, a page at a time, kept current. */
export function useSessions(filters: SessionFilters = {}): UseSessionsResult {
  const client = useWorkflowClient()
  const feed = useBoardSubscription()
  const query = useInfiniteQuery({
    queryKey: [...keys.sessions, filters],
    queryFn: ({ pageParam, signal }) => client.listSessions(filters, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
    retry,
  })
  const { data, hasNextPage, isFetchingNextPage, isLoading, isPlaceholderData, error } = query
  const sessions = useMemo(() => distinct(data?.pages.flatMap((page) => page.sessions)), [data])
  const { fetchNextPage, refetch } = query
  return {
    sessions,
    status: feed.status,
    hasNextPage,
    fetchNextPage: useCallback(() => void fetchNextPage(), [fetchNextPage]),
    isFetchingNextPage,
    isLoading,
    isPlaceholderData,
    error: error ?? feed.error,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}

/** A session that moved up between two pages would be listed twice. */
function distinct(sessions: ReadonlyArray<Session> = []): ReadonlyArray<Session> {
  return [...new Map(sessions.map((one) => [one.sessionId, one])).values()]
}
