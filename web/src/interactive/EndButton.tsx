import { useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { MessageField } from '../parts/MessageField'
import type { Interaction } from '../server/types'
import { text } from './text'
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
  const { mutate, isPending, end: endOf } = useDecision(question.id)
  const end = () => {
    onRefused(null)
    const reason = why.trim() && { error: why.trim() }
    mutate(endOf({ outcome: 'cancelled', ...reason }), {
      onError: onRefused,
      onSettled: () => setAsking(false),
    })
  }
  return (
    <div>
      <button type="button" className="button button--plain" onClick={() => setAsking(true)}>
        {text.dismiss}
      </button>
      {isAsking && (
        <Dialog title={text.dismissTitle} onClose={() => setAsking(false)}>
          <p>{text.dismissed(isShared)}</p>
          <MessageField rows={2} text={why} onChange={setWhy} />
          <div className="dialog__foot">
            <button type="button" className="button" onClick={() => setAsking(false)}>
              {text.cancel}
            </button>
            <button
              type="button"
              className="button button--danger"
              disabled={isPending}
              onClick={end}
            >
              {text.confirm}
            </button>
          </div>
        </Dialog>
      )}
    </div>
  )
}
