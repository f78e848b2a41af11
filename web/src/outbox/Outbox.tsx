import { useEffect } from 'react'
import { grouped } from '../parts/grouped'
import { KeyHint } from '../parts/KeyHint'
import { visible } from '../parts/visible'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import { useShortcut } from '../shell/shortcuts'
import { returnTo, wantFocus } from './moving'
import { listenForLeaving, type Outgoing, undo, useOutbox } from './outbox'
import { useShown } from './shown'
import { text } from './text'

/** Answers that can still be taken back, on whatever page. Those that are shown say so themselves. */
export function Outbox() {
  const outgoing = useOutbox()
  const shown = useShown()
  useEffect(listenForLeaving, [])
  const last = outgoing.findLast((one) => !one.isSending)
  // Answers that were given together are taken back together, wherever they are shown.
  const told = outgoing.filter(({ id, batch }) => batch || !shown.has(id))
  const batches = grouped(told, ({ id, batch }) => batch?.id ?? id)
  return (
    <>
      <div className="outbox" role="status">
        {[...batches].map(([key, members]) => (
          <Sending key={key} members={members} isLast={members.some(({ id }) => id === last?.id)} />
        ))}
      </div>
      {last && <UndoKey outgoing={last} />}
    </>
  )
}

interface SendingProps {
  readonly members: ReadonlyArray<Outgoing>
  readonly isLast: boolean
}

function Sending({ members, isLast }: SendingProps) {
  const [first] = members
  if (!first) return null
  return (
    <div className="toast">
      <span className="grow">
        {text.sending}{' '}
        <span className="outbox__title">{visible(first.batch?.title ?? first.title)}</span>
      </span>
      {members.some(({ isSending }) => !isSending) && <UndoButton outgoing={first} keys={isLast} />}
    </div>
  )
}

interface UndoProps {
  readonly outgoing: Outgoing
  readonly keys: boolean
}

/** Takes an answer back, with those that were given together with it. */
export function UndoButton({ outgoing, keys }: UndoProps) {
  return (
    <button type="button" className="button" onClick={() => takeBack(outgoing)}>
      {text.undo} {keys && <KeyHint>u</KeyHint>}
    </button>
  )
}

/** Undo, and return to the question. Answers that were given together have no one place. */
function takeBack(outgoing: Outgoing): void {
  undo(outgoing)
  if (outgoing.batch || returnTo(outgoing.id)) return
  wantFocus()
  navigate(to.inbox(outgoing.id))
}

function UndoKey({ outgoing }: Pick<UndoProps, 'outgoing'>) {
  useShortcut(text.group, 'u', text.undoKey, () => takeBack(outgoing))
  return null
}
