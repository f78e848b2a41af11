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

/** The time in milliseconds, a second old at most, or as old as `every` says. */
export function useNow(every = 1000): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / every) * every)
}

/** Something that the time tells; a component that uses it is drawn again only when it changes. */
export function useTold<T extends string | number | boolean>(tell: (now: number) => T): T {
  return useSyncExternalStore(subscribe, () => tell(now))
}
