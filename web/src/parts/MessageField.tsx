import { useId } from 'react'
import { text as words } from './text'

interface Props {
  readonly label?: string
  readonly hint?: string
  readonly rows?: number
  readonly text: string
  readonly onChange: (text: string) => void
  /** What Ctrl + Enter does; without it, that key does nothing here. */
  readonly send?: (() => void) | undefined
}

/** A message that goes with an answer. */
export function MessageField({
  label = words.message,
  hint,
  rows = 1,
  text,
  onChange,
  send,
}: Props) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input"
        rows={rows}
        value={text}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (send && event.key === 'Escape') event.currentTarget.blur()
          if (!send || event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          // It must not send the answers of a form around it.
          event.preventDefault()
          send()
        }}
      />
      {hint && <span className="field__hint">{hint}</span>}
    </div>
  )
}
