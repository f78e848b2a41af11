import { useQuery } from '@tanstack/react-query'
import { client } from './client'
import type { Interaction } from './types'

const NONE: ReadonlyArray<Interaction> = []

/** The questions that wait. */
export function useInbox() {
  const query = useQuery({
    queryKey: ['inbox'],
    queryFn: ({ signal }) => client.listInteractions({ status: 'pending' }, signal),
  })
  const retry = () => void query.refetch()
  return { questions: query.data ?? NONE, isLoading: query.isLoading, error: query.error, retry }
}
