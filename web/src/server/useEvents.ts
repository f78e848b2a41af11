import { useEffect, useState } from 'react'
import { client } from './client'
import type { SerializedEvent } from './types'

interface Events {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly error: Error | null
}

/** The events of a session, live. */
export function useEvents(sessionId: string): Events {
  const [found, setFound] = useState<Events>({ events: [], error: null })
  useEffect(() => {
    setFound({ events: [], error: null })
    const stream = client.follow(sessionId, {
      onEvents: (more) => setFound(({ events }) => ({ events: events.concat(more), error: null })),
      onStatus: (status, error) => {
        if (status === 'error') setFound(({ events }) => ({ events, error }))
      },
    })
    return () => stream.close()
  }, [sessionId])
  return found
}
