import { useInbox } from '@callboard/react'
import { Conflict } from '@callboard/react/client'
import { useMutation } from '@tanstack/react-query'
import { say } from '../parts/Toasts'
import { text } from './text'
import { givenName } from './useClaim'

export interface Answer {
  readonly id: string
  readonly value?: unknown
  readonly approved?: boolean
  /** Who answers, as far as a name was given here. */
  readonly by?: string
}

/** An answer with the name that was given here, if one was. */
export function signed<T extends object>(given: T): T & Pick<Answer, 'by'> {
  const by = givenName()
  return by === null ? given : { ...given, by }
}

/** Answer a question. The first answer counts; the error says so to the second. */
export function useAnswer() {
  const { answer } = useInbox()
  return useMutation({
    mutationFn: ({ id, ...given }: Answer) => answer(id, given),
    onError: (error) => {
      // The form may be gone by now, because the page has heard of the other answer before.
      if (error instanceof Conflict) say(text.notUsed(error.message))
    },
  })
}
