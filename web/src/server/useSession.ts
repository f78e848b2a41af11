import { useQuery } from '@tanstack/react-query'
import { client } from './client'

/** How one session stands. */
export function useSession(id: string) {
  return useQuery({
    queryKey: ['session', id],
    queryFn: ({ signal }) => client.getSession(id, signal),
  })
}
