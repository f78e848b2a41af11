import { useQuery } from '@tanstack/react-query'
import { client } from './client'

/** The workflows that can be started here. */
export function useWorkflows() {
  return useQuery({
    queryKey: ['workflows'],
    queryFn: ({ signal }) => client.listWorkflows(signal),
    staleTime: 300_000,
  })
}
