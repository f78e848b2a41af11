import { useEffect, useSyncExternalStore } from 'react'
import { client, queryClient } from './client'

export interface Connection {
  readonly status: 'connecting' | 'connected' | 'disconnected' | 'ended' | 'error'
  readonly error: Error | null
  /** When the server was last heard of. */
  readonly heard: number
}

let connection: Connection = { status: 'connecting', error: null, heard: Date.now() }
const listeners = new Set<() => void>()

function set(changed: Partial<Connection>): void {
  connection = { ...connection, ...changed }
  for (const listener of listeners) listener()
}

const refresh = () => {
  for (const key of ['inbox', 'sessions', 'session', 'interaction']) {
    void queryClient.invalidateQueries({ queryKey: [key] })
  }
}

/** Follow everything that happens, so that no list on the page goes stale. */
export function useLive(): void {
  useEffect(() => {
    let timer: number | undefined
    const stream = client.followAll({
      onEvents: () => {
        // Many events come together; the lists are read once for all of them.
        timer ??= window.setTimeout(() => {
          timer = undefined
          refresh()
        }, 150)
      },
      onStatus: (status, error) => {
        const back = status === 'connected' && connection.status === 'disconnected'
        set({ status, error, ...(status === 'connected' ? {} : { heard: Date.now() }) })
        if (back) refresh()
      },
    })
    return () => {
      stream.close()
      window.clearTimeout(timer)
    }
  }, [])
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** How the connection to the server stands. */
export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection)
}
