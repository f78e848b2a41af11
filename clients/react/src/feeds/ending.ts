import { Backoff, pause } from '../client/backoff.js'
import type { CallboardClient } from '../client/client.js'
import { isPassing } from '../client/errors.js'
import type { Interaction } from '../client/wire.js'
import type { BoardFeed } from './boardFeed.js'

const LOOK_MS = 30_000

/** Wait until a question has its end. Rejects only when it cannot be looked at any more. */
export function ending(
  client: CallboardClient,
  feed: BoardFeed,
  id: string,
  signal: AbortSignal,
  lookMs: number = LOOK_MS,
): Promise<Interaction> {
  return new Promise((resolve, reject) => {
    const stop: Array<() => void> = []
    const backoff = new Backoff()
    let isOver = false
    let again: ReturnType<typeof setTimeout> | undefined
    const leave = () => {
      isOver = true
      clearTimeout(again)
      for (const one of stop) one()
    }
    const lookLater = () => {
      clearTimeout(again)
      again = setTimeout(look, backoff.step())
    }
    const fail = (error: unknown) => {
      if (signal.aborted || isOver) return
      // The feed may still be connected, and then says nothing more.
      if (isPassing(error)) return lookLater()
      reject(error)
      leave()
    }
    const look = async () => {
      try {
        const found = await client.getInteraction(id, signal)
        backoff.reset()
        if (found.status === 'pending') return
        resolve(found)
        leave()
      } catch (error) {
        fail(error)
      }
    }
    signal.addEventListener('abort', leave)
    stop.push(() => signal.removeEventListener('abort', leave))
    stop.push(feed.subscribe(() => feed.state.status === 'connected' && void look()))
    stop.push(feed.onEvent((event) => event.payload.id === id && void look()))
    // A session that is deleted takes its questions along, and may be gone before it is told.
    const timer = setInterval(look, lookMs)
    stop.push(() => clearInterval(timer))
    if (signal.aborted) leave()
    else void look()
  })
}

const PATIENCE_MS = 60_000

/** Take a question back, also if the server is away for a moment; if it has ended, that counts. */
export async function withdrawal(client: CallboardClient, id: string): Promise<void> {
  const limit = AbortSignal.timeout(PATIENCE_MS)
  const backoff = new Backoff()
  while (!limit.aborted) {
    try {
      await client.cancelInteraction(id)
      return
    } catch (error) {
      if (!isPassing(error)) return
    }
    await pause(backoff.step(), limit)
  }
}
