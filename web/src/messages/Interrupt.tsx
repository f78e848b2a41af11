import type { UseMessagesResult } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { visible } from '../parts/visible'
import type { Plate } from '../server/types'
import { text } from './text'

interface Props {
  readonly plate: Plate
  readonly told: UseMessagesResult
}

const AT_WORK: ReadonlySet<Plate['status']> = new Set([
  'running',
  'awaiting_approval',
  'awaiting_input',
])

/** Stops the agent's turn; asks first where something could be lost by it. */
export function Interrupt({ plate, told }: Props) {
  const [isAsking, setAsking] = useState(false)
  const stop = useMutation({
    mutationFn: () => told.interrupt(),
    onSuccess: ({ wasInterrupted, note }) =>
      say(wasInterrupted ? text.interrupted : visible(note ?? text.notInterrupted)),
  })
  const risk = riskOf(plate, told)
  const isAtWork = AT_WORK.has(plate.status)
  return (
    <>
      {stop.error && <Problem error={stop.error} />}
      <button
        type="button"
        className="button"
        disabled={!isAtWork || stop.isPending}
        title={isAtWork ? undefined : text.nothingToInterrupt}
        onClick={() => (risk ? setAsking(true) : stop.mutate())}
      >
        {stop.isPending ? text.interrupting : text.interrupt}
      </button>
      {isAsking && (
        <Dialog title={text.confirm.title} onClose={() => setAsking(false)}>
          <p>{risk}</p>
          <div className="dialog__foot">
            <button type="button" className="button" onClick={() => setAsking(false)}>
              {text.confirm.no}
            </button>
            <button
              type="button"
              className="button button--danger"
              onClick={() => {
                setAsking(false)
                stop.mutate()
              }}
            >
              {text.confirm.yes}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

/** What an interrupt could cost; null where it costs nothing but the turn. */
function riskOf(plate: Plate, { messages }: UseMessagesResult): string | null {
  if (plate.waitingFor !== null || plate.interactionId !== null) return text.confirm.asking
  return messages.some((one) => one.status === 'handed') ? text.confirm.pending : null
}
