import { useSessions } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { Status } from '../parts/Status'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { Brief } from './Brief'
import { text } from './text'

const MOST = 6

/** The sessions that run now. */
export function Running() {
  const { sessions, isLoading } = useSessions({ status: 'running', limit: MOST })
  if (isLoading) return null
  const more = (
    <Link className="more" to={`${to.sessions()}?status=running`}>
      {text.running.all}
    </Link>
  )
  return (
    <Brief id="running" title={text.running.title} calm={text.running.calm} more={more}>
      {sessions.slice(0, MOST).map((session) => (
        <li key={session.sessionId} className="glance__row">
          <Status status={session.status} />
          <Link className="glance__text" to={to.session(session.sessionId)}>
            <strong>{onOneLine(session.title ?? session.sessionId)}</strong>
            <span className="quiet">{about(session)}</span>
          </Link>
          <span className="quiet">
            <Ago moment={session.updatedAt} />
          </span>
        </li>
      ))}
    </Brief>
  )
}

function about({ workflow, phase }: Session): string {
  const name = onOneLine(workflow)
  return phase ? text.running.phase(name, onOneLine(phase)) : text.running.started(name)
}
