import { skipToken, useQuery } from '@tanstack/react-query'
import type { Interaction } from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

/** One question. */
export interface UseInteractionResult {
  readonly interaction: Interaction | undefined
  readonly isLoading: boolean
  readonly error: Error | null
}

/** One question, open or closed, kept current: also what becomes of its answer, its `receipt`. */
export function useInteraction(id: string | null): UseInteractionResult {
  const client = useWorkflowClient()
  const feed = useBoardSubscription()
  const { data, isLoading, error } = useQuery({
    queryKey: [...keys.interaction, id ?? ''],
    queryFn: id ? ({ signal }) => client.getInteraction(id, signal) : skipToken,
    retry,
  })
  return { interaction: data, isLoading, error: error ?? feed.error }
}
