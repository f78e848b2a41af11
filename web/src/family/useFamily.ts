import { type CallboardClient, type SessionsPage, useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import type { Session } from '../server/types'
import { type Family, familyOf } from './tree'

/** The family, and whether it is all of it. */
export interface WholeFamily extends Family {
  /** Whether every fork is in it. */
  readonly isWhole: boolean
}

/** A picture with more lines could not be read. */
const MOST = 300

/** The whole family of a session: its first ancestor, and all that was forked from there. */
export function useFamily(id: string) {
  const client = useWorkflowClient()
  return useQuery({
    queryKey: ['sessions', 'family', id],
    queryFn: ({ signal }) => read(client, id, signal),
  })
}

async function read(
  client: CallboardClient,
  id: string,
  signal: AbortSignal,
): Promise<WholeFamily> {
  let root = await client.getSession(id, signal)
  while (root.parent) {
    // An ancestor may have been deleted; its forks stay whole, and the family starts below it.
    const parent = await client.getSession(root.parent, signal).catch(() => null)
    if (!parent) break
    root = parent
  }
  const found: Session[] = [root]
  let isWhole = true
  for (let next = 0; next < found.length; next += 1) {
    isWhole &&= await addForks(client, found, found[next]?.sessionId ?? '', signal)
  }
  return { ...familyOf(found), isWhole }
}

/** Add all forks of a session, a page at a time; false when there is no room for all. */
async function addForks(
  client: CallboardClient,
  found: Session[],
  parent: string,
  signal: AbortSignal,
): Promise<boolean> {
  let cursor: string | null = null
  do {
    if (found.length >= MOST) return !(await hasForks(client, parent, cursor, signal))
    const limit = Math.min(100, MOST - found.length)
    const page: SessionsPage = await client.listSessions({ parent, limit }, cursor, signal)
    found.push(...page.sessions)
    cursor = page.nextCursor
  } while (cursor)
  return true
}

async function hasForks(
  client: CallboardClient,
  parent: string,
  cursor: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  const page = await client.listSessions({ parent, limit: 1 }, cursor, signal)
  return page.sessions.length > 0
}
