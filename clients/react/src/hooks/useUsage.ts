import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { UsageQuery } from '../client/client.js'
import type { DailyBudget, UsageReport } from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import type { StatisticsResult } from './useStatistics.js'

// Tokens are counted when turns end, and no one reads a chart by the second.
const EVERY_MS = 15_000

/**
 * The tokens that agents have used, and what they cost; asked for again every 15 seconds. While
 * another period or group is loading, `data` is what was there before.
 */
export function useUsage(query: UsageQuery = {}): StatisticsResult<UsageReport> {
  const client = useWorkflowClient()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: [...keys.usage, 'report', query],
    queryFn: ({ signal }) => client.getUsage(query, signal),
    refetchInterval: EVERY_MS,
    ...(query.stream === undefined && { placeholderData: keepPreviousData }),
    retry,
  })
  return { data, isLoading, error, refetch: useCallback(() => void refetch(), [refetch]) }
}

/** The daily budget for all agents. */
export interface UseBudgetResult {
  /** The budget, and what was spent today; undefined until the server has answered. */
  readonly budget: DailyBudget | undefined
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
  /**
   * Ask people once a day when this much was spent, in US dollars; null for no budget. The day is
   * that of the time zone, in minutes east of UTC, by default this browser's. Needs `operate`.
   */
  readonly setBudget: (daily: number | null, utcOffset?: number) => Promise<DailyBudget>
  readonly isSetting: boolean
}

interface BudgetChange {
  readonly daily: number | null
  readonly utcOffset: number
  readonly timeZone?: string
}

/** This browser's time zone: its name knows when summer time starts. */
function zoneHere(): Omit<BudgetChange, 'daily'> {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  return { utcOffset: -new Date().getTimezoneOffset(), ...(timeZone && { timeZone }) }
}

/** The daily budget for all agents; asked for again every 15 seconds. */
export function useBudget(): UseBudgetResult {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: [...keys.usage, 'budget'],
    queryFn: ({ signal }) => client.getBudget(signal),
    refetchInterval: EVERY_MS,
    retry,
  })
  const { mutateAsync, isPending } = useMutation({
    mutationFn: ({ daily, utcOffset, timeZone }: BudgetChange) =>
      client.setBudget(daily, utcOffset, timeZone),
    onSuccess: (budget) => {
      cache.setQueryData([...keys.usage, 'budget'], budget)
      void cache.invalidateQueries({ queryKey: keys.usage })
    },
  })
  return {
    budget: data,
    isLoading,
    error,
    refetch: useCallback(() => void refetch(), [refetch]),
    setBudget: useCallback(
      (daily, utcOffset) =>
        mutateAsync(utcOffset === undefined ? { daily, ...zoneHere() } : { daily, utcOffset }),
      [mutateAsync],
    ),
    isSetting: isPending,
  }
}
