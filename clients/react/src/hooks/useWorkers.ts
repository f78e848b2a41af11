import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { WorkerOverview } from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

// A worker that starts or dies writes no event.
const EVERY_MS = 3_000

/** Who drives sessions. */
export interface UseWorkersResult {
  /** What the server knows about workers; undefined until it has answered. */
  readonly overview: WorkerOverview | undefined
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
}

/** The workers, what they drive, and the sessions that none can drive; asked for every 3 seconds. */
export function useWorkers(): UseWorkersResult {
  const client = useWorkflowClient()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: keys.workers,
    queryFn: ({ signal }) => client.getWorkers(undefined, signal),
    refetchInterval: EVERY_MS,
    retry,
  })
  return {
    overview: data,
    isLoading,
    error,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}
