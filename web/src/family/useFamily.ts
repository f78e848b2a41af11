import { type CallboardClient, useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import type { Session } from '../server/types'
import { type Family, familyOf } from './tree'

/** More than this is no picture any more. */
export const MOST = 300

/** The whole family of a session: its first ancestor, and all that was forked from there. */
export function useFamily(id: string) {
  const client = useWorkflowClient()
  return useQuery({
    queryKey: ['sessions', 'family', id],
    queryFn: ({ signal }) => read(client, id, signal),
  })
}

async function read(client: CallboardClient, id: string, signal: AbortSignal): Promise<Family> {
  let root = await client.getSession(id, signal)
  while (root.parent) {
    // An ancestor may have been deleted; its forks stay whole, and the family begins below it.
    const parent = await client.getSession(root.parent, signal).catch(() => null)
    if (!parent) break
    root = parent
  }
  const found: Session[] = [root]
  for (let next = 0; next < found.length && found.length < MOST; next += 1) {
    const parent = found[next]?.sessionId
    const page = await client.listSessions({ ...(parent && { parent }), limit: 100 }, null, signal)
    found.push(...page.sessions)
  }
  return familyOf(found.slice(0, MOST))
}
