import { useWorkflowVCR } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { RetryIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { onOneLine, visible } from '../parts/visible'
import { Passage } from '../reading/Passage'
import type { SerializedEvent, Session } from '../server/types'
import { ForkDialog } from './ForkDialog'
import { failedAt, failedPhase, tracebackOf } from './failures'
import { goToRetry } from './goToRetry'
import { text } from './text'

interface Props {
  readonly session: Session
  readonly events: ReadonlyArray<SerializedEvent>
  /** Where the timeline stands, if not at its end. */
  readonly position: number | null
}

/** Why a session failed, and how to retry it. */
export function Failure(props: Props) {
  return props.session.status === 'failed' ? <Failed {...props} /> : null
}

function Failed({ session, events, position }: Props) {
  const { sessionId, error } = session
  const [editing, setEditing] = useState(false)
  const { retry } = useWorkflowVCR()
  const again = useMutation({
    mutationFn: () => retry(sessionId),
    onSuccess: (forked) => goToRetry(sessionId, forked.sessionId),
  })
  const phase = failedPhase(session)
  return (
    <section className="failure" aria-labelledby="failure">
      <div className="failure__ways row">
        <button
          type="button"
          className="button button--lamp"
          disabled={again.isPending}
          onClick={() => again.mutate()}
        >
          <RetryIcon /> {phase ? text.failure.retryFrom(onOneLine(phase)) : text.failure.retry}
        </button>
        <button type="button" className="button" onClick={() => setEditing(true)}>
          {position === null ? text.failure.edit : text.failure.retryAt(position)}
        </button>
        {position === null && <span className="quiet">{text.failure.hint}</span>}
      </div>
      {again.error && <Problem error={again.error} />}
      <h2 id="failure">{phase ? text.failure.failedIn(onOneLine(phase)) : text.failure.failed}</h2>
      {error && <Reason error={error} />}
      {editing && (
        <ForkDialog
          isRetry
          sessionId={sessionId}
          position={position ?? failedAt(events, phase)}
          onClose={() => setEditing(false)}
        />
      )}
    </section>
  )
}

function Reason({ error }: { readonly error: NonNullable<Session['error']> }) {
  const traceback = tracebackOf(error)
  return (
    <>
      <div className="failure__message">
        {error.type && <code>{visible(error.type)}</code>}
        <Passage bare text={error.message} />
      </div>
      {traceback && (
        <details className="failure__traceback">
          <summary>{text.failure.traceback}</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
          <section className="failure__lines" aria-label={text.failure.traceback} tabIndex={0}>
            <pre>{visible(traceback)}</pre>
          </section>
        </details>
      )}
    </>
  )
}
