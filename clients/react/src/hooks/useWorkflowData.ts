import { useState } from 'react'
import type { SerializedEvent } from '../client/events.js'
import { summarise } from '../client/summary.js'
import type { ConnectionStatus } from '../feeds/feed.js'
import { useEventsQuery, useStateAtQuery } from '../primitives/queries.js'
import { useEventSubscription } from '../primitives/subscription.js'

/** A session's data, live. */
export interface WorkflowDataResult<S> {
  /** All events received so far. */
  readonly events: ReadonlyArray<SerializedEvent>
  /** The state after them, made by the server. */
  readonly state: S | undefined
  /** The position of the last event. */
  readonly position: number
  /** How the connection stands; while it is `disconnected`, what is shown may be old. */
  readonly status: ConnectionStatus
  readonly isLoading: boolean
  readonly error: Error | null
}

const NONE: ReadonlyArray<SerializedEvent> = []

/** A session's events and state, kept current. */
export function useWorkflowData<S>(sessionId: string | null): WorkflowDataResult<S> {
  const feed = useEventSubscription(sessionId)
  const found = useEventsQuery(sessionId).data
  const events = (sessionId ? found : undefined) ?? NONE
  const { position, statePosition } = summarise(events)
  const state = useLatestState<S>(sessionId, statePosition)
  const isUnread = sessionId !== null && !feed.isLoaded && events.length === 0
  return {
    events,
    state: state.data,
    position,
    status: feed.status,
    isLoading: isUnread || state.isLoading,
    error: feed.error ?? state.error,
  }
}

/**
 * The state at the newest position. One request at a time: were each new position to cut off the
 * request for the one before, a busy session would never show a state.
 */
function useLatestState<S>(sessionId: string | null, latest: number) {
  const [asked, setAsked] = useState({ sessionId, position: latest })
  const query = useStateAtQuery<S>(asked.sessionId, asked.position)
  const isOther = asked.sessionId !== sessionId
  if (isOther || (asked.position !== latest && !query.isFetching)) {
    setAsked({ sessionId, position: latest })
  }
  const { data, isLoading, error } = query
  return isOther ? { data: undefined, isLoading: true, error: null } : { data, isLoading, error }
}
