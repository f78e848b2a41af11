import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { RelayHost } from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

// A server that dies can't write that the hosts connected to it are gone.
const EVERY_MS = 15_000

/** The machines whose relays report coding agents to the server. */
export interface UseHostsResult {
  /**
   * By name; `plate.host` is the `id` of one, or of the server's own machine, which needs no relay.
   * While one is not `connected`, what its plates show may be old: since `seenAt`.
   */
  readonly hosts: ReadonlyArray<RelayHost>
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
}

const NONE: ReadonlyArray<RelayHost> = []

/** The machines with a relay and whether they can be reached, kept current. */
export function useHosts(): UseHostsResult {
  const client = useWorkflowClient()
  const feed = useBoardSubscription()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: keys.hosts,
    queryFn: ({ signal }) => client.listHosts(signal),
    refetchInterval: EVERY_MS,
    retry,
  })
  return {
    hosts: data ?? NONE,
    isLoading,
    error: error ?? feed.error,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}
