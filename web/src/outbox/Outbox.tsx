import { useEffect } from 'react'
import { KeyHint } from '../parts/KeyHint'
import { visible } from '../parts/visible'
import { useShortcut } from '../shell/shortcuts'
import { listenForLeaving, undo, useOutbox } from './outbox'
import { useShown } from './shown'

/** Answers that can still be taken back, on whatever page. Those that are shown say so themselves. */
export function Outbox() {
  const outgoing = useOutbox()
  const shown = useShown()
  useEffect(listenForLeaving, [])
  const last = outgoing.findLast((one) => !one.isSending)
  return (
    <>
      <div className="outbox" role="status">
        {outgoing
          .filter(({ id }) => !shown.has(id))
          .map(({ id, title, isSending }) => (
            <div className="toast" key={id}>
              <span className="grow">
                Sending… <span className="outbox__title">{visible(title)}</span>
              </span>
              {!isSending && <UndoButton id={id} keys={id === last?.id} />}
            </div>
          ))}
      </div>
      {last && <UndoKey id={last.id} />}
    </>
  )
}

/** Takes an answer back. */
export function UndoButton({ id, keys }: { readonly id: string; readonly keys: boolean }) {
  return (
    <button type="button" className="button" onClick={() => undo(id)}>
      Undo {keys && <KeyHint>u</KeyHint>}
    </button>
  )
}

function UndoKey({ id }: { readonly id: string }) {
  useShortcut('This question', 'u', 'Undo the last answer', () => undo(id))
  return null
}
