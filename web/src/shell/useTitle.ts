import { useEffect, useSyncExternalStore } from 'react'
import { onOneLine } from '../parts/visible'
import type { Route } from '../router/route'
import { text } from './text'

let named: string | undefined
const listeners = new Set<() => void>()

function name(given: string | undefined): void {
  named = given
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Name the tab after what the page shows, once that is known; a route knows only its id. */
export function usePageName(given: string | undefined): void {
  useEffect(() => {
    name(given && onOneLine(given))
    return () => name(undefined)
  }, [given])
}

/** The title says how many wait, so that a tab in the background calls too. */
export function useTitle(route: Route, waiting: number): void {
  const given = useSyncExternalStore(subscribe, () => named)
  const title = text.titles.page(waiting, given ?? nameOf(route))
  useEffect(() => {
    document.title = title
  }, [title])
}

function nameOf(route: Route): string {
  switch (route.page) {
    case 'home':
      return text.pages.home
    case 'inbox':
      return text.pages.inbox
    case 'sessions':
      return text.pages.sessions
    case 'session':
      return text.titles.session(route.id)
    case 'family':
      return text.titles.family(route.id)
    case 'compare':
      return text.titles.compare
    case 'workflows':
      return text.pages.workflows
    case 'workflow':
      return route.name
    case 'board':
      return text.pages.board
    case 'plate':
      return text.titles.plate
    case 'usage':
      return text.pages.usage
    case 'workers':
      return text.pages.workers
    case 'people':
      return text.pages.people
    case 'settings':
      return text.pages.settings
    case 'link':
      return text.titles.link
    case 'lost':
      return text.titles.lost
  }
}
