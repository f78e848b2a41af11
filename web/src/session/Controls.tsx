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
import { ShareMenu } from './ShareMenu'
import { text } from './text'

interface Props {
  readonly session: Session
  readonly position: number
  readonly onFork: () => void
}

/** The statuses in which nothing more happens. */
export const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

/** What can be done to a session. */
export function Controls({ session, position, onFork }: Props) {
  const [asking, setAsking] = useState<'cancel' | 'delete' | null>(null)
  const { sessionId, status } = session
  const ended = ENDED.has(status)
  useShortcut(text.controls.group, 'f', text.controls.fork, onFork)
  return (
    <div className="controls">
      <div className="row">
        {!ended && <PauseButton session={session} />}
        <button
          type="button"
          className="button"
          onClick={onFork}
          title={text.controls.forkAt(position)}
        >
          <ForkIcon /> {text.controls.fork} <KeyHint>f</KeyHint>
        </button>
        {ended ? (
          <button
            type="button"
            className="button button--danger"
            onClick={() => setAsking('delete')}
          >
            {text.controls.delete}
          </button>
        ) : (
          <button
            type="button"
            className="button button--danger"
            onClick={() => setAsking('cancel')}
          >
            <StopIcon /> {text.controls.cancel}
          </button>
        )}
        <ShareMenu sessionId={sessionId} position={position} />
      </div>
      {asking && <EndDialog what={asking} sessionId={sessionId} onClose={() => setAsking(null)} />}
    </div>
  )
}

/** Pauses a session, or resumes it. One that has ended can do neither. */
function PauseButton({ session }: Pick<Props, 'session'>) {
  const { sessionId, status } = session
  const paused = status === 'paused'
  const { pause, resume } = useWorkflowVCR()
  const turn = useMutation({
    mutationFn: async () => void (await (paused ? resume(sessionId) : pause(sessionId))),
  })
  useShortcut(text.controls.group, 'p', text.controls.pauseOrResume, () => turn.mutate())
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={turn.isPending}
        onClick={() => turn.mutate()}
      >
        {paused ? <PlayIcon /> : <PauseIcon />}
        {paused ? text.controls.resume : text.controls.pause} <KeyHint>p</KeyHint>
      </button>
      {turn.error && <Problem error={turn.error} />}
    </>
  )
}

interface EndProps {
  readonly what: 'cancel' | 'delete'
  readonly sessionId: string
  readonly onClose: () => void
}

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
        say(text.controls.deleted(sessionId))
        navigate(to.sessions())
      }
      onClose()
    },
  })
  const ends = text.controls.ends[what]
  return (
    <Dialog title={ends.title} onClose={onClose}>
      <p>{ends.text}</p>
      {end.error && <Problem error={end.error} />}
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.controls.keep}
        </button>
        <button
          type="button"
          className="button button--danger"
          disabled={end.isPending}
          onClick={() => end.mutate()}
        >
          {ends.yes}
        </button>
      </div>
    </Dialog>
  )
}
