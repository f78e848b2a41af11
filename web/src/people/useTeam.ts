import { useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'

/** The people, tokens and hosts: a change to the tokens changes all of it. */
export const TEAM = 'team'

/** Who may use this board, and the hosts that it knows. */
export function useTeam() {
  const client = useWorkflowClient()
  return useQuery({
    queryKey: [TEAM, 'people'],
    queryFn: ({ signal }) => client.getTeam(signal),
  })
}
