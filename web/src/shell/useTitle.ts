import { useEffect } from 'react'
import type { Route } from '../router/route'

/** The title says how many wait, so that a tab in the background calls too. */
export function useTitle(route: Route, waiting: number): void {
  const title = `${waiting > 0 ? `(${waiting}) ` : ''}${nameOf(route)} · Callboard`
  useEffect(() => {
    document.title = title
  }, [title])
}

function nameOf(route: Route): string {
  switch (route.page) {
    case 'inbox':
      return 'Inbox'
    case 'sessions':
      return 'Sessions'
    case 'session':
      return `Session ${route.id}`
    case 'family':
      return `Forks of ${route.id}`
    case 'compare':
      return 'Two sessions'
    case 'board':
      return 'Board'
    case 'plate':
      return 'Plate'
    case 'link':
      return 'Sign in'
    case 'lost':
      return 'Not found'
  }
}
