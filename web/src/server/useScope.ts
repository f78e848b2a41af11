import { type TokenHolder, useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'

const ENOUGH: ReadonlySet<TokenHolder['scope']> = new Set(['operate', 'admin'])

/** Whether this browser's token allows to operate; null while that is not known. */
export function useMayOperate(): boolean | null {
  const client = useWorkflowClient()
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => client.getMe(signal),
    staleTime: 300_000,
  })
  return data ? ENOUGH.has(data.scope) : null
}
