import { useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { MessageField } from '../parts/MessageField'
import type { Interaction } from '../server/types'
import { useDecision } from './useDecision'

interface Props {
  readonly question: Interaction
  /** Whether others have to decide too. */
  readonly isShared: boolean
  readonly onRefused: (error: Error | null) => void
}

/** End it without a decision, which cannot be taken back; so it is asked twice. */
export function EndButton({ question, isShared, onRefused }: Props) {
  const [isAsking, setAsking] = useState(false)
  const [why, setWhy] = useState('')
  const { mutate, isPending } = useDecision(question.id)
  const end = () => {
    onRefused(null)
    const reason = why.trim() && { error: why.trim() }
    mutate(
      { outcome: 'cancelled', ...reason },
      { onError: onRefused, onSettled: () => setAsking(false) },
    )
  }
  return (
    <div>
      <button type="button" className="button button--plain" onClick={() => setAsking(true)}>
        Dismiss without deciding…
      </button>
      {isAsking && (
        <Dialog title="Dismiss without deciding?" onClose={() => setAsking(false)}>
          <p>
            This ends the question as cancelled{isShared ? ' for everyone who has to decide' : ''}.
            It cannot be reopened.
          </p>
          <MessageField rows={2} text={why} onChange={setWhy} />
          <div className="dialog__foot">
            <button type="button" className="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
            <button
              type="button"
              className="button button--danger"
              disabled={isPending}
              onClick={end}
            >
              Dismiss
            </button>
          </div>
        </Dialog>
      )}
    </div>
  )
}
