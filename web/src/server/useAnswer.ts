import { useInbox } from '@callboard/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'

export interface Answer {
  readonly id: string
  readonly value?: unknown
  readonly approved?: boolean
}

/** Answer a question. Whoever was first counts; the error says so to the second. */
export function useAnswer() {
  const { answer } = useInbox()
  const cache = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...given }: Answer) => answer(id, given),
    onSettled: (closed, _error, { id }) => {
      // How it ended is shown in place of the buttons, whoever ended it.
      if (closed) cache.setQueryData(['interaction', id], closed)
      else void cache.invalidateQueries({ queryKey: ['interaction', id] })
    },
  })
}
