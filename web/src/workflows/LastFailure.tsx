import { Ago } from '../parts/Ago'
import { visible } from '../parts/visible'
import { Passage } from '../reading/Passage'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { failedPhase, tracebackOf } from '../session/failures'
import { text } from './text'

/** The newest run that failed: why, and where in the code. */
export function LastFailure({ session }: { readonly session: Session }) {
  const { error, sessionId, updatedAt } = session
  const phase = failedPhase(session)
  const traceback = error && tracebackOf(error)
  return (
    <section className="panel is-wide" aria-labelledby="last-failure">
      <header>
        <h2 id="last-failure">{text.failure.title}</h2>
        <span className="quiet">
          <Ago moment={updatedAt} />
        </span>
        <Link className="more" to={to.session(sessionId)}>
          {text.failure.open}
        </Link>
      </header>
      <div className="panel__body">
        {phase && <p className="quiet">{text.failure.phase(visible(phase))}</p>}
        {error && (
          <div className="failure__message">
            {error.type && <code>{visible(error.type)}</code>}
            <Passage bare text={error.message} />
          </div>
        )}
        {traceback && (
          <details className="failure__traceback">
            <summary>{text.failure.traceback}</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
            <section className="failure__lines" aria-label={text.failure.traceback} tabIndex={0}>
              <pre>{visible(traceback)}</pre>
            </section>
          </details>
        )}
      </div>
    </section>
  )
}
