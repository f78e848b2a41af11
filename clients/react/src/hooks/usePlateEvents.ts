import { skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import type { CallboardClient } from '../client/client.js'
import type { SerializedEvent } from '../client/events.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

/** What happened to a plate. */
export interface UsePlateEventsResult {
  /** In their order. Questions and answers are among them. */
  readonly events: ReadonlyArray<SerializedEvent>
  readonly isLoading: boolean
  readonly error: Error | null
}

const NONE: ReadonlyArray<SerializedEvent> = []

/** Everything that happened to a plate, kept current. */
export function usePlateEvents(plateId: string | null): UsePlateEventsResult {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  const feed = useBoardSubscription()
  const queryKey = [...keys.plateEvents, plateId ?? '']
  const { data, isLoading, error } = useQuery<ReadonlyArray<SerializedEvent>>({
    queryKey,
    queryFn: plateId
      ? ({ signal }) => further(client, plateId, cache.getQueryData(queryKey) ?? NONE, signal)
      : skipToken,
    structuralSharing: false,
    retry,
  })
  return { events: data ?? NONE, isLoading, error: error ?? feed.error }
}

/** What is known, and what came after it: the past does not change and is not asked for again. */
async function further(
  client: CallboardClient,
  plateId: string,
  known: ReadonlyArray<SerializedEvent>,
  signal: AbortSignal,
): Promise<ReadonlyArray<SerializedEvent>> {
  let events = known
  for (;;) {
    const page = await client.getPlateEvents(plateId, events.at(-1)?.position ?? 0, signal)
    if (page.events.length > 0) events = [...events, ...page.events]
    if (!page.nextAfter) return events
  }
}
