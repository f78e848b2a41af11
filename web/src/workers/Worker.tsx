import type { WorkerInfo, WorkerSession } from '@callboard/react'
import { useId } from 'react'
import { Ago } from '../parts/Ago'
import { StatusShape } from '../parts/Status'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { text } from './text'

/** One worker: where it runs, what it can drive, and what it drives now. */
export function Worker({ worker }: { readonly worker: WorkerInfo }) {
  const id = useId()
  const { host, pid, since, alive, workflows, sessions, sessionCount } = worker
  const more = sessionCount - sessions.length
  return (
    <article className="panel worker" aria-labelledby={id}>
      <header>
        <h2 id={id} title={worker.id}>
          <span className="worker__host">{onOneLine(host)}</span>{' '}
          <span className="worker__process">{text.worker.process(pid)}</span>
        </h2>
        <span className={`status status--${alive ? 'running' : 'failed'}`}>
          <StatusShape status={alive ? 'running' : 'failed'} />
          {alive ? text.worker.alive : text.worker.dead}
        </span>
        {since && (
          <span className="worker__since quiet">
            {text.worker.since} <Ago moment={since} />
          </span>
        )}
      </header>
      {workflows.length > 0 ? (
        <ul className="worker__workflows" aria-label={text.worker.workflows}>
          {workflows.map(({ name, version }) => (
            <li key={name}>
              <Link to={to.workflow(name)}>{onOneLine(name)}</Link>
              {version && <span className="worker__version">{onOneLine(version)}</span>}
            </li>
          ))}
        </ul>
      ) : (
        <p className="worker__note quiet">{text.worker.ownSession}</p>
      )}
      {alive && sessionCount === 0 && <p className="worker__note quiet">{text.worker.idle}</p>}
      {sessionCount > 0 && (
        <ul className="glancelist worker__sessions">
          {sessions.map((one) => (
            <li key={one.sessionId} className="worker__row">
              <Session session={one} />
            </li>
          ))}
          {more > 0 && <li className="worker__note quiet">{text.worker.more(more)}</li>}
        </ul>
      )}
    </article>
  )
}

function Session({ session }: { readonly session: WorkerSession }) {
  const { sessionId, title, workflow, phase, since } = session
  const name = onOneLine(workflow)
  return (
    <>
      <Link className="glance__text" to={to.session(sessionId)}>
        <strong>{onOneLine(title ?? sessionId)}</strong>
        <span className="quiet">
          {phase ? text.worker.inPhase(name, onOneLine(phase)) : text.worker.notStarted(name)}
        </span>
      </Link>
      {since && (
        <span className="quiet">
          <span className="hidden">{`${text.worker.phaseSince} `}</span>
          <Ago moment={since} />
        </span>
      )}
    </>
  )
}
