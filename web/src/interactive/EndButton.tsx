import { useState } from 'react'
import { Dialog } from '../parts/Dialog'
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
  const { mutate, isPending } = useDecision(question.id)
  const end = () => {
    onRefused(null)
    mutate({ outcome: 'cancelled' }, { onError: onRefused, onSettled: () => setAsking(false) })
  }
  return (
    <div>
      <button type="button" className="button button--plain" onClick={() => setAsking(true)}>
        End it without a decision …
      </button>
      {isAsking && (
        <Dialog title="End it without a decision?" onClose={() => setAsking(false)}>
          <p>
            Whoever asked is told that it was cancelled. It cannot be opened again
            {isShared ? ', and ends for everybody who has to decide' : ''}.
          </p>
          <div className="dialog__foot">
            <button type="button" className="button" onClick={() => setAsking(false)}>
              Keep it
            </button>
            <button
              type="button"
              className="button button--danger"
              disabled={isPending}
              onClick={end}
            >
              End it
            </button>
          </div>
        </Dialog>
      )}
    </div>
  )
}
