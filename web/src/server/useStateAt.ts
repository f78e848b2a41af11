import { useWorkflowClient } from '@callboard/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'

const KEPT_FOR = 30_000

/** The state after the first N events; 0 asks for nothing. What is past does not change. */
export function useStateAt(sessionId: string, position: number) {
  const client = useWorkflowClient()
  return useQuery({
    queryKey: ['state', sessionId, position],
    queryFn: ({ signal }) => client.getStateAt<unknown>(sessionId, position, signal),
    enabled: position > 0,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_FOR,
    structuralSharing: false,
    placeholderData: keepPreviousData,
  })
}
