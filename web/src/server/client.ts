import { createClient, isPassing, Unauthenticated } from '@callboard/react/client'
import { QueryClient } from '@tanstack/react-query'

/** The server that this page came from. The browser's cookie lets us in; no token is here. */
export const client = createClient({ baseUrl: '' })

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 60_000,
      retry: (failures, error) => isPassing(error) && failures < 3,
      refetchOnWindowFocus: false,
    },
  },
})

/** Whether the server does not know this browser, or no longer. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof Unauthenticated
}
