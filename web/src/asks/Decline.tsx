import { useId, useState } from 'react'

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
  const id = useId()
  return (
    <details className="folded">
      <summary>{summary}</summary>
      <div className="field">
        <label htmlFor={id}>Message (optional)</label>
        <textarea
          id={id}
          className="input"
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
            // It must not send the answers of a form around it.
            event.preventDefault()
            if (!disabled) decline(text.trim())
          }}
        />
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={disabled}
            onClick={() => decline(text.trim())}
          >
            {no}
          </button>
        </div>
      </div>
    </details>
  )
}
