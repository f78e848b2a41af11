import { useInbox } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'

const KEY = 'callboard.name'
const TEN_MINUTES = 600_000

/** The name under which this browser claims questions. */
export function myName(): string {
  return givenName() ?? 'dashboard'
}

/** The name that was given here, if one was. */
export function givenName(): string | null {
  return window.localStorage.getItem(KEY)
}

/** Claim under this name from now on; an empty one takes it back. */
export function setMyName(name: string): void {
  if (name.trim()) window.localStorage.setItem(KEY, name.trim())
  else window.localStorage.removeItem(KEY)
}

/** Claim a question, so that no one else starts on it. */
export function useClaim() {
  const { claim } = useInbox()
  return useMutation({
    mutationFn: (id: string) => claim(id, { by: myName(), ttlMs: TEN_MINUTES }),
  })
}
