import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { client } from './client'

/** The state after the first N events; 0 asks for nothing. What is past does not change. */
export function useStateAt(sessionId: string, position: number) {
  return useQuery({
    queryKey: ['state', sessionId, position],
    queryFn: ({ signal }) => client.getStateAt<unknown>(sessionId, position, signal),
    enabled: position > 0,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
}
