import { useState } from 'react'
import { MessageField } from '../parts/MessageField'

interface Props {
  readonly summary: string
  /** What the button says. */
  readonly no: string
  readonly disabled: boolean
  readonly decline: (message: string) => void
}

/** A no with a message, folded away until it is wanted. */
export function Decline({ summary, no, disabled, decline }: Props) {
  const [text, setText] = useState('')
  const send = () => {
    if (!disabled) decline(text.trim())
  }
  return (
    <details className="folded">
      <summary>{summary}</summary>
      <MessageField text={text} onChange={setText} send={send} />
      <div className="row">
        <button type="button" className="button" disabled={disabled} onClick={send}>
          {no}
        </button>
      </div>
    </details>
  )
}
