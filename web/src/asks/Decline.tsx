import { useRef, useState } from 'react'
import { messageOf, useKept } from '../forms/useKept'
import { MessageField } from '../parts/MessageField'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { text as words } from './text'

interface Props {
  readonly summary: string
  /** What the button says. */
  readonly no: string
  readonly disabled: boolean
  /** Under which name the answer is kept that the message goes with. */
  readonly keep: string
  /** Whether the key of a no opens it. */
  readonly keys?: boolean
  readonly decline: (message: string) => void
}

/** A no with a message, folded away until it is needed. */
export function Decline({ summary, no, disabled, keep, keys = false, decline }: Props) {
  const [text, setText] = useKept(messageOf(keep), () => '')
  const [wasKept] = useState(text !== '')
  const fold = useRef<HTMLDetailsElement>(null)
  const send = () => {
    if (!disabled) decline(text.trim())
  }
  const open = () => {
    if (!fold.current) return
    fold.current.open = true
    fold.current.querySelector('textarea')?.focus()
  }
  return (
    <details className="folded" ref={fold} open={wasKept}>
      <summary>{summary}</summary>
      <MessageField text={text} onChange={setText} send={send} />
      <div className="row">
        <button type="button" className="button" disabled={disabled} onClick={send}>
          {no}
        </button>
      </div>
      {keys && <OpenKey label={no} open={open} />}
    </details>
  )
}

function OpenKey({ label, open }: { readonly label: string; readonly open: () => void }) {
  useShortcut(words.keys.group, KEYS.no, label, open)
  return null
}
