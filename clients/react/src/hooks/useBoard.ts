import { useQuery } from '@tanstack/react-query'
import type { Plate } from '../client/client.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

/** The coding agents' sessions that the server knows of. */
export interface UseBoardResult {
  readonly plates: ReadonlyArray<Plate>
  /** Whether the server has a board at all. */
  readonly isAvailable: boolean
  readonly isLoading: boolean
  readonly error: Error | null
}

const NONE: ReadonlyArray<Plate> = []

/** The board of coding agents' sessions. */
export function useBoard(): UseBoardResult {
  const client = useWorkflowClient()
  const { data, isLoading, error } = useQuery({
    queryKey: keys.board,
    queryFn: ({ signal }) => client.listPlates(signal),
    retry,
  })
  return { plates: data ?? NONE, isAvailable: Array.isArray(data), isLoading, error }
}
