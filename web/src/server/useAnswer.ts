import { useInbox } from '@callboard/react'
import { Conflict } from '@callboard/react/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { say } from '../parts/Toasts'

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
    onError: (error) => {
      // The form may be gone by now, because the page has heard of the other answer before.
      if (error instanceof Conflict) say(`Somebody was first. ${error.message}`)
    },
    onSettled: (closed, _error, { id }) => {
      // How it ended is shown in place of the buttons, whoever ended it.
      if (closed) cache.setQueryData(['interaction', id], closed)
      else void cache.invalidateQueries({ queryKey: ['interaction', id] })
    },
  })
}
