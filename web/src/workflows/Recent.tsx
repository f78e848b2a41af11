import { useSessions } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { Status } from '../parts/Status'
import { firstLine, onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { text } from './text'

const MOST = 8

/** The newest sessions of a workflow. */
export function Recent({ workflow }: { readonly workflow: string }) {
  const { sessions, isLoading } = useSessions({ workflow, limit: MOST })
  return (
    <section className="panel is-wide" aria-labelledby="recent">
      <header>
        <h2 id="recent">{text.recent.title}</h2>
        {sessions.length > 0 && (
          <Link className="more" to={`${to.sessions()}?workflow=${encodeURIComponent(workflow)}`}>
            {text.recent.all}
          </Link>
        )}
      </header>
      {sessions.length > 0 && (
        <ul className="glancelist">
          {sessions.slice(0, MOST).map((one) => (
            <li key={one.sessionId} className="glance__row">
              <Status status={one.status} />
              <Link className="glance__text" to={to.session(one.sessionId)}>
                <strong>{onOneLine(one.title ?? one.sessionId)}</strong>
                {(one.pending[0] || one.error) && (
                  <span className="quiet">
                    {firstLine(one.pending[0]?.prompt ?? one.error?.message ?? '')}
                  </span>
                )}
              </Link>
              <span className="quiet">
                <Ago moment={one.updatedAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {sessions.length === 0 && !isLoading && <p className="glance__calm">{text.recent.calm}</p>}
    </section>
  )
}
