import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from './client'

const KEY = 'callboard.name'
const TEN_MINUTES = 600_000

/** The name under which this browser claims questions. */
export function myName(): string {
  return window.localStorage.getItem(KEY) ?? 'dashboard'
}

export function setMyName(name: string): void {
  if (name.trim()) window.localStorage.setItem(KEY, name.trim())
  else window.localStorage.removeItem(KEY)
}

/** Say that you see to a question, so that nobody else begins on it. */
export function useClaim() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => client.claim(id, { by: myName(), ttlMs: TEN_MINUTES }),
    onSettled: (_claimed, _error, id) => {
      void queries.invalidateQueries({ queryKey: ['interaction', id] })
      return queries.invalidateQueries({ queryKey: ['inbox'] })
    },
  })
}
