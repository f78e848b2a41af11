import { useLayoutEffect, useSyncExternalStore } from 'react'

let shown: ReadonlySet<string> = new Set()
const listeners = new Set<() => void>()

function set(changed: ReadonlySet<string>): void {
  shown = changed
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The questions that are on this page, with what becomes of their answers. */
export function useShown(): ReadonlySet<string> {
  return useSyncExternalStore(subscribe, () => shown)
}

/** Whether a question is on this page. */
export function isShown(id: string): boolean {
  return shown.has(id)
}

/** Say that a question is on this page. */
export function useShowing(id: string): void {
  useLayoutEffect(() => {
    set(new Set([...shown, id]))
    return () => set(new Set([...shown].filter((one) => one !== id)))
  }, [id])
}
