import { useMemo } from 'react'
import { type TextOptions, textOf } from '../client/deltas.js'
import { useEventsQuery } from '../primitives/queries.js'
import { useEventSubscription } from '../primitives/subscription.js'

/** What an agent of a session is saying, as it says it. */
export function useText(sessionId: string | null, options: TextOptions = {}): string {
  useEventSubscription(sessionId)
  const events = useEventsQuery(sessionId).data
  const { run, kind } = options
  return useMemo(
    () => (sessionId && events ? textOf(events, { run, kind }) : ''),
    [sessionId, events, run, kind],
  )
}
