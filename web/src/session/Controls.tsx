import { useWorkflowActions, useWorkflowVCR } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { ForkIcon, PauseIcon, PlayIcon, StopIcon } from '../parts/icons'
import { KeyHint } from '../parts/KeyHint'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { useShortcut } from '../shell/shortcuts'

interface Props {
  readonly session: Session
  readonly position: number
  readonly onFork: () => void
}

/** The statuses after which nothing happens any more. */
export const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

/** What can be done to a session. */
export function Controls({ session, position, onFork }: Props) {
  const [asking, setAsking] = useState<'cancel' | 'delete' | null>(null)
  const { sessionId, status } = session
  const ended = ENDED.has(status)
  const paused = status === 'paused'
  const { pause, resume } = useWorkflowVCR()
  const turn = useMutation({
    mutationFn: async () => void (await (paused ? resume(sessionId) : pause(sessionId))),
  })
  useShortcut('Session', 'p', 'Pause or resume', () => {
    if (!ended) turn.mutate()
  })
  useShortcut('Session', 'f', 'Fork here', onFork)
  return (
    <div className="controls">
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={ended || turn.isPending}
          onClick={() => turn.mutate()}
        >
          {paused ? <PlayIcon /> : <PauseIcon />}
          {paused ? 'Resume' : 'Pause'} <KeyHint>p</KeyHint>
        </button>
        <button type="button" className="button" onClick={onFork} title={`Fork at ${position}`}>
          <ForkIcon /> Fork here <KeyHint>f</KeyHint>
        </button>
        {ended ? (
          <button
            type="button"
            className="button button--danger"
            onClick={() => setAsking('delete')}
          >
            Delete
          </button>
        ) : (
          <button
            type="button"
            className="button button--danger"
            onClick={() => setAsking('cancel')}
          >
            <StopIcon /> Cancel
          </button>
        )}
      </div>
      {turn.error && <Problem error={turn.error} />}
      {asking && <EndDialog what={asking} sessionId={sessionId} onClose={() => setAsking(null)} />}
    </div>
  )
}

interface EndProps {
  readonly what: 'cancel' | 'delete'
  readonly sessionId: string
  readonly onClose: () => void
}

const ENDS = {
  cancel: {
    title: 'Cancel this session?',
    text: 'It ends for good. What happened stays, and it can still be forked at any position.',
    yes: 'Cancel the session',
  },
  delete: {
    title: 'Delete this session?',
    text: 'This permanently deletes its events. Forks are kept.',
    yes: 'Delete the session',
  },
} as const

function EndDialog({ what, sessionId, onClose }: EndProps) {
  const { cancel } = useWorkflowVCR()
  const { remove } = useWorkflowActions()
  const end = useMutation({
    mutationFn: async () => {
      if (what === 'cancel') await cancel(sessionId)
      else await remove(sessionId)
    },
    onSuccess: () => {
      if (what === 'delete') {
        say(`Session ${sessionId} is deleted.`)
        navigate(to.sessions())
      }
      onClose()
    },
  })
  const { title, text, yes } = ENDS[what]
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {end.error && <Problem error={end.error} />}
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          Keep it
        </button>
        <button
          type="button"
          className="button button--danger"
          disabled={end.isPending}
          onClick={() => end.mutate()}
        >
          {yes}
        </button>
      </div>
    </Dialog>
  )
}
