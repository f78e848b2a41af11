import { useSessions } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { ForkIcon } from '../parts/icons'
import { Status } from '../parts/Status'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { Controls } from './Controls'

interface Props {
  readonly session: Session
  readonly position: number
  readonly onFork: () => void
}

/** Which session this is, how it stands, and what can be done to it. */
export function SessionHeader({ session, position, onFork }: Props) {
  const { sessionId, parent, forkPosition } = session
  const { sessions: forks } = useSessions({ parent: sessionId, limit: 10 })
  return (
    <header>
      <div className="session__title">
        <p className="row quiet">
          <strong>{session.workflow}</strong>
          {session.phase && <span>in {session.phase}</span>}
          <span>
            began <Ago moment={session.createdAt} />
          </span>
        </p>
        <h1>
          Session <span className="session__id">{sessionId}</span>
        </h1>
        <p className="row">
          <Status status={session.status} />
          {session.progress && <span>{session.progress} phases</span>}
          {parent && (
            <span>
              forked from <Link to={to.session(parent, forkPosition ?? undefined)}>{parent}</Link>{' '}
              at {forkPosition}
            </span>
          )}
          {(parent || forks.length > 0) && (
            <Link className="row" to={to.family(sessionId)}>
              <ForkIcon /> Forks
            </Link>
          )}
          {forks.map((fork) => (
            <Link key={fork.sessionId} to={to.session(fork.sessionId)}>
              fork {fork.sessionId}
            </Link>
          ))}
        </p>
        {session.held && <p className="session__error">Held: {session.held}</p>}
      </div>
      <Controls session={session} position={position} onFork={onFork} />
    </header>
  )
}
