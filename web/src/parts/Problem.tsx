import { CallboardError, ServerUnreachable, SessionNotFound } from '@callboard/react'
import { text } from './text'

interface Props {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}

/** What went wrong and what to do next. The server's messages already say both. */
export function Problem({ error, onRetry }: Props) {
  const message = error instanceof Error ? error.message : String(error)
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{titleOf(error)}</strong> {message}
      </p>
      {onRetry && (
        <p>
          <button type="button" className="button" onClick={onRetry}>
            {text.retry}
          </button>
        </p>
      )}
    </div>
  )
}

function titleOf(error: unknown): string {
  if (error instanceof ServerUnreachable) return text.problems.unreachable
  if (error instanceof SessionNotFound) return text.problems.noSession
  if (error instanceof CallboardError && error.status === 403) return text.problems.forbidden
  if (error instanceof CallboardError && error.status === 409) return text.problems.conflict
  return text.problems.other
}
