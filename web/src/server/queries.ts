import { isPassing, Unauthenticated } from '@callboard/react'
import { QueryClient } from '@tanstack/react-query'

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => isPassing(error) && failures < 3,
    },
  },
})

/** Whether the server does not know this browser, or no longer. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Unauthenticated
}

/**
 * What a page has to say of an error itself: while something is shown and the server is only
 * away, the banner says it for all.
 */
export function problemOf(error: Error | null, isShown: boolean): Error | null {
  return error && isShown && isPassing(error) ? null : error
}
