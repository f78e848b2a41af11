import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { Workflow } from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

/** The workflows that the server runs. */
export interface UseWorkflowsResult {
  readonly workflows: ReadonlyArray<Workflow>
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
}

const NONE: ReadonlyArray<Workflow> = []

/** What can be started, with its phases and the ways between them. */
export function useWorkflows(): UseWorkflowsResult {
  const client = useWorkflowClient()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: keys.workflows,
    queryFn: ({ signal }) => client.listWorkflows(signal),
    retry,
  })
  return {
    workflows: data ?? NONE,
    isLoading,
    error,
    refetch: useCallback(() => void refetch(), [refetch]),
  }
}
