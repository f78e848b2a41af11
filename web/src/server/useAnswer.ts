import { useMutation, useQueryClient } from '@tanstack/react-query'
import { client } from './client'
import type { Interaction } from './types'

export interface Answer {
  readonly id: string
  readonly value?: unknown
  readonly approved?: boolean
}

/** Answer a question. Whoever was first counts; the error says so to the second. */
export function useAnswer() {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...answer }: Answer) => client.answer(id, answer),
    onSuccess: (closed: Interaction) => {
      queries.setQueryData(['interaction', closed.id], closed)
      return queries.invalidateQueries({ queryKey: ['inbox'] })
    },
    onError: (_error, { id }) => {
      void queries.invalidateQueries({ queryKey: ['interaction', id] })
      return queries.invalidateQueries({ queryKey: ['inbox'] })
    },
  })
}
