import { useSyncExternalStore } from 'react'
import { BASE, type Route, routeOf } from './route'

const listeners = new Set<() => void>()

function tell(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  window.addEventListener('popstate', tell)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) window.removeEventListener('popstate', tell)
  }
}

/** Go to an address of the dashboard, such as `/sessions`. */
export function navigate(path: string, { replace = false }: { replace?: boolean } = {}): void {
  const address = BASE + path
  if (replace) window.history.replaceState(null, '', address)
  else window.history.pushState(null, '', address)
  tell()
}

/** The page that is shown. */
export function useRoute(): Route {
  return routeOf(useSyncExternalStore(subscribe, () => window.location.pathname))
}

/** One parameter of the address, and a function that sets or drops it without a new page. */
export function useParameter(name: string): [string | null, (value: string | null) => void] {
  const search = useSyncExternalStore(subscribe, () => window.location.search)
  const set = (value: string | null) => {
    const parameters = new URLSearchParams(window.location.search)
    if (value === null || value === '') parameters.delete(name)
    else parameters.set(name, value)
    const query = parameters.toString()
    const path = window.location.pathname.slice(BASE.length)
    navigate(path + (query ? `?${query}` : ''), { replace: true })
  }
  return [new URLSearchParams(search).get(name), set]
}
