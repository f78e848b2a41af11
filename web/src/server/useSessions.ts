import type { SessionFilters } from '@callboard/react/client'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { client } from './client'

/** The sessions that fit, newest first, a page at a time. */
export function useSessions(filters: SessionFilters) {
  const query = useInfiniteQuery({
    queryKey: ['sessions', filters],
    queryFn: ({ pageParam, signal }) => client.listSessions(filters, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.nextCursor,
    placeholderData: keepPreviousData,
  })
  const sessions = useMemo(() => query.data?.pages.flatMap((page) => page.sessions) ?? [], [query.data])
  return {
    sessions,
    isLoading: query.isLoading,
    error: query.error,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    loadMore: () => void query.fetchNextPage(),
    retry: () => void query.refetch(),
  }
}
