import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'
import { type FeedState, UNREAD } from '../feeds/feed.js'
import { boardFeed, openBoardFeed, openSessionFeed, sessionFeed } from '../feeds/registry.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

const NOTHING_TO_READ: FeedState = { status: 'disconnected', error: null, isLoaded: false }

/** Keep a session's events coming into the cache while this component is mounted. */
export function useEventSubscription(sessionId: string | null): FeedState {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  const subscribe = useCallback(
    (listener: () => void) =>
      sessionId ? sessionFeed(client, cache, sessionId).subscribe(listener) : () => {},
    [client, cache, sessionId],
  )
  const snapshot = () => {
    if (!sessionId) return NOTHING_TO_READ
    return openSessionFeed(client, cache, sessionId)?.state ?? UNREAD
  }
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}

/** Keep the lists current while this component is mounted. */
export function useBoardSubscription(): FeedState {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  const subscribe = useCallback(
    (listener: () => void) => boardFeed(client, cache).subscribe(listener),
    [client, cache],
  )
  const snapshot = () => openBoardFeed(client, cache)?.state ?? UNREAD
  return useSyncExternalStore(subscribe, snapshot, snapshot)
}
