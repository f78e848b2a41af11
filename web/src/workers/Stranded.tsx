import type { StrandedSession } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { StatusShape } from '../parts/Status'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { text } from './text'

interface Props {
  readonly sessions: ReadonlyArray<StrandedSession>
  /** How many there are in all. */
  readonly count: number
}

/** The sessions that no running worker can drive, why, and what to do. */
export function Stranded({ sessions, count }: Props) {
  const more = count - sessions.length
  return (
    <section className="panel" aria-labelledby="stranded">
      <header>
        <h2 id="stranded">{text.stranded.title}</h2>
        <span className="quiet">{text.stranded.about}</span>
      </header>
      <ul className="glancelist">
        {sessions.map((one) => (
          <li key={one.sessionId} className="stranded">
            <Row session={one} />
          </li>
        ))}
        {more > 0 && <li className="worker__note quiet">{text.stranded.more(more)}</li>}
      </ul>
    </section>
  )
}

function Row({ session }: { readonly session: StrandedSession }) {
  const { sessionId, title, workflow, phase, since, reason, nextStep } = session
  const name = onOneLine(workflow)
  return (
    <>
      <span className="glance__sign glance__sign--failed">
        <StatusShape status="failed" />
      </span>
      <div className="stranded__text">
        <Link to={to.session(sessionId)}>{onOneLine(title ?? sessionId)}</Link>{' '}
        <span className="quiet">
          {phase ? text.worker.inPhase(name, onOneLine(phase)) : text.worker.notStarted(name)}
        </span>
        <p>{onOneLine(reason)}</p>
        <p className="quiet">{onOneLine(nextStep)}</p>
      </div>
      <span className="quiet">
        <span className="hidden">{`${text.stranded.since} `}</span>
        <Ago moment={since} />
      </span>
    </>
  )
}
