import { useSyncExternalStore } from 'react'

let now = Date.now()
let timer: number | undefined
const listeners = new Set<() => void>()

function tick(): void {
  now = Date.now()
  for (const listener of listeners) listener()
}

/** One timer for all the ages on the page, so that they change together. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    now = Date.now()
    timer = window.setInterval(tick, 1000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    window.clearInterval(timer)
    timer = undefined
  }
}

/** The time in milliseconds, a second old at most. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
