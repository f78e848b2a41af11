import { useQuery } from '@tanstack/react-query'
import { client } from './client'

/** One question, open or closed; so that one that just left the inbox can say how it ended. */
export function useQuestion(id: string | null) {
  return useQuery({
    queryKey: ['interaction', id],
    queryFn: ({ signal }) => client.getInteraction(id ?? '', signal),
    enabled: id !== null,
    staleTime: 0,
  })
}
