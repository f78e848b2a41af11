import { useSessions } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { ForkIcon } from '../parts/icons'
import { Status } from '../parts/Status'
import { onOneLine, visible } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { Controls } from './Controls'
import { CopyButton } from './CopyButton'
import { TitleEditor } from './TitleEditor'
import { text } from './text'

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
          <strong>{onOneLine(session.workflow)}</strong>
          {session.phase && <span>{text.header.phase(onOneLine(session.phase))}</span>}
          <span>
            {text.header.started} <Ago moment={session.createdAt} />
          </span>
        </p>
        <TitleEditor session={session} />
        <p className="row">
          <Status status={session.status} />
          <span className="session__ident">
            {session.title && <span className="session__id">{sessionId}</span>}
            <CopyButton value={() => sessionId} label={text.header.copyId} />
          </span>
          {session.progress && <span>{text.header.phases(session.progress)}</span>}
          {parent && (
            <span>
              {text.header.forkedFrom}{' '}
              <Link to={to.session(parent, forkPosition ?? undefined)}>{parent}</Link>{' '}
              {text.header.at(forkPosition)}
            </span>
          )}
          {(parent || forks.length > 0) && (
            <Link className="row" to={to.family(sessionId)}>
              <ForkIcon /> {text.header.forks}
            </Link>
          )}
          {forks.map((fork) => (
            <Link key={fork.sessionId} to={to.session(fork.sessionId)}>
              {text.header.fork(fork.sessionId)}
            </Link>
          ))}
        </p>
        {session.held && (
          <p className="session__error">
            {text.header.held} {visible(session.held)}
          </p>
        )}
      </div>
      <Controls session={session} position={position} onFork={onFork} />
    </header>
  )
}
