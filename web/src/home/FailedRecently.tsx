import { useSessions, useWorkflowVCR } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { Ago } from '../parts/Ago'
import { RetryIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { StatusShape } from '../parts/Status'
import { firstLine, onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { goToRetry } from '../session/goToRetry'
import { Brief } from './Brief'
import { text } from './text'

const MOST = 5

/** The sessions that failed last, each with a way to retry it. */
export function FailedRecently() {
  const { sessions, isLoading } = useSessions({ status: 'failed', limit: MOST })
  if (isLoading) return null
  const more = (
    <Link className="more" to={`${to.sessions()}?status=failed`}>
      {text.failed.all}
    </Link>
  )
  return (
    <Brief id="failed" title={text.failed.title} calm={text.failed.calm} more={more}>
      {sessions.slice(0, MOST).map((session) => (
        <Failed key={session.sessionId} session={session} />
      ))}
    </Brief>
  )
}

function Failed({ session }: { readonly session: Session }) {
  const { sessionId, title, workflow, error, updatedAt } = session
  const { retry } = useWorkflowVCR()
  const again = useMutation({
    mutationFn: () => retry(sessionId),
    onSuccess: (forked) => goToRetry(sessionId, forked.sessionId),
  })
  return (
    <li>
      <div className="glance__row">
        <span className="glance__sign glance__sign--failed">
          <StatusShape status="failed" />
        </span>
        <Link className="glance__text" to={to.session(sessionId)}>
          <strong>{onOneLine(title ?? workflow)}</strong>
          <span className="quiet">
            <Ago moment={updatedAt} /> · {firstLine(error?.message ?? sessionId)}
          </span>
        </Link>
        <button
          type="button"
          className="button"
          aria-label={text.failed.retryOf(onOneLine(title ?? sessionId))}
          disabled={again.isPending}
          onClick={() => again.mutate()}
        >
          <RetryIcon /> {text.failed.retry}
        </button>
      </div>
      {again.error && <Problem error={again.error} />}
    </li>
  )
}
