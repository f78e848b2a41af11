import { useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'

/** Which server this is, for operators and admins. */
export function useServer() {
  const client = useWorkflowClient()
  return useQuery({
    queryKey: ['server'],
    queryFn: ({ signal }) => client.getServer(signal),
  })
}
