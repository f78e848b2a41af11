import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import type { AskRequest, Interaction } from '../client/wire.js'
import { ending, withdrawal } from '../feeds/ending.js'
import { boardFeed } from '../feeds/registry.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

const LINGER_MS = 250

/**
 * Puts questions to people and waits for their end. When the component is gone the waiting ends
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
  return useMemo(() => {
    const watch = (id: string): Promise<Interaction> =>
      ending(client, boardFeed(client, cache), id, leaving.current.signal)
    return {
      /** Ask, and wait for the end. */
      async ask(question: AskRequest, onAsked?: (id: string) => void): Promise<Interaction> {
        const { id } = await client.ask(question)
        onAsked?.(id)
        return watch(id)
      },
      /** Wait for the end of what was asked before. */
      watch,
      /** Take it back. */
      withdraw: (id: string) => withdrawal(client, id),
    }
  }, [client, cache])
}

const timers = new WeakMap<AbortController, ReturnType<typeof setTimeout>>()
