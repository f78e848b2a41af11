import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import type { AskRequest, Interaction } from '../client/wire.js'
import { ending } from '../feeds/ending.js'
import { boardFeed } from '../feeds/registry.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

const LINGER_MS = 250

/**
 * Puts a question to people and waits for its end. When the component is gone the waiting ends
 * too and the promise is left as it is; the question itself stays open on the server.
 */
export function useAsking() {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  const leaving = useRef<AbortController>(new AbortController())
  useEffect(() => {
    // Strict Mode unmounts and mounts again at once; what was asked between is still wanted.
    const stay = leaving.current.signal.aborted ? new AbortController() : leaving.current
    leaving.current = stay
    clearTimeout(timers.get(stay))
    return () => {
      timers.set(
        stay,
        setTimeout(() => stay.abort(), LINGER_MS),
      )
    }
  }, [])
  return useCallback(
    async (question: AskRequest, onAsked?: (asked: Interaction) => void): Promise<Interaction> => {
      const asked = await client.ask(question)
      onAsked?.(asked)
      return ending(client, boardFeed(client, cache), asked.id, leaving.current.signal)
    },
    [client, cache],
  )
}

const timers = new WeakMap<AbortController, ReturnType<typeof setTimeout>>()
