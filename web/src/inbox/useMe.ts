import { useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { givenName } from '../server/useClaim'

export interface Me {
  /** The person that the token of this browser stands for, once it is known. */
  readonly person: string | null
  /** The names under which questions are assigned to this person, groups included. */
  readonly names: ReadonlyArray<string>
  /** Those of them that the token proves: only they count where an answer is restricted. */
  readonly proven: ReadonlyArray<string>
  /** Whether this person may answer in place of the assignees. */
  readonly isAdmin: boolean
}

/** Who uses this browser: the holder of its token, and the name that was given here. */
export function useMe(): Me {
  const client = useWorkflowClient()
  const { data } = useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => client.getMe(signal),
    staleTime: 300_000,
  })
  const given = givenName()
  return useMemo(() => {
    const groups = data?.groups.map((group) => `group:${group}`) ?? []
    const proven = data ? [data.person, ...groups] : []
    return {
      person: data?.person ?? null,
      names: [...new Set(given ? [given, ...proven] : proven)],
      proven,
      isAdmin: data?.scope === 'admin',
    }
  }, [data, given])
}

/** Whether this person is one of those who may answer. */
export function mayAnswer(assignees: ReadonlyArray<string> | null, me: Me): boolean {
  return assignees === null || assignees.some((name) => me.proven.includes(name))
}
