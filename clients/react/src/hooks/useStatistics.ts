import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { CallboardClient, StatisticsPeriod } from '../client/client.js'
import type { Overview, WorkflowStats } from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

// Counting costs the server more than a list does, and no one reads a chart by the second.
const EVERY_MS = 15_000

/** Statistics, and how asking for them went. */
export interface StatisticsResult<T> {
  /** What the server counted; undefined until it has. */
  readonly data: T | undefined
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
}

/** How the runs of all workflows went; asked for again every 15 seconds. */
export function useOverview(period: StatisticsPeriod = {}): StatisticsResult<Overview> {
  return useStatistics(['overview', period], (client, signal) => client.getOverview(period, signal))
}

/** How the runs of one workflow went; asked for again every 15 seconds. */
export function useWorkflowStats(
  workflowId: string,
  period: StatisticsPeriod = {},
): StatisticsResult<WorkflowStats> {
  return useStatistics(['workflow', workflowId, period], (client, signal) =>
    client.getWorkflowStats(workflowId, period, signal),
  )
}

function useStatistics<T>(
  key: ReadonlyArray<unknown>,
  ask: (client: CallboardClient, signal: AbortSignal) => Promise<T>,
): StatisticsResult<T> {
  const client = useWorkflowClient()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: [...keys.statistics, ...key],
    queryFn: ({ signal }) => ask(client, signal),
    refetchInterval: EVERY_MS,
    retry,
  })
  return { data, isLoading, error, refetch: useCallback(() => void refetch(), [refetch]) }
}
