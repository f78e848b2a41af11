import { CallboardError, ServerUnreachable, SessionNotFound } from '@callboard/react'

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
            Try again
          </button>
        </p>
      )}
    </div>
  )
}

function titleOf(error: unknown): string {
  if (error instanceof ServerUnreachable) return 'Can’t reach the server.'
  if (error instanceof SessionNotFound) return 'This session is not there.'
  if (error instanceof CallboardError && error.status === 403) return 'Not allowed.'
  if (error instanceof CallboardError && error.status === 409) return 'Already answered.'
  return 'Something went wrong.'
}
