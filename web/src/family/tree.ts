import { grouped } from '../parts/grouped'
import type { Session } from '../server/types'

/** One session in the picture of its family. */
export interface Branch {
  readonly session: Session
  readonly depth: number
  /** The line of the session that it was forked from; null for the first. */
  readonly parentRow: number | null
  /** Where its own part starts. */
  readonly from: number
}

export interface Family {
  readonly branches: ReadonlyArray<Branch>
  readonly longest: number
}

/** The family as lines, each fork below what it was forked from, the earlier ones first. */
export function familyOf(sessions: ReadonlyArray<Session>): Family {
  const children = grouped(sessions, (session) => session.parent)
  const known = new Set(sessions.map((session) => session.sessionId))
  const branches: Branch[] = []
  const add = (session: Session, depth: number, parentRow: number | null) => {
    const row = branches.length
    branches.push({ session, depth, parentRow, from: session.forkPosition ?? 0 })
    const forks = [...(children.get(session.sessionId) ?? [])]
    forks.sort((a, b) => (a.forkPosition ?? 0) - (b.forkPosition ?? 0))
    for (const fork of forks) add(fork, depth + 1, row)
  }
  for (const session of sessions) {
    if (!session.parent || !known.has(session.parent)) add(session, 0, null)
  }
  return { branches, longest: Math.max(1, ...sessions.map((session) => session.position)) }
}
