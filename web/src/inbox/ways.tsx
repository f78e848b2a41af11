import { type FormEvent, useId } from 'react'
import { Decline } from '../asks/Decline'
import { useKept } from '../forms/useKept'
import { KeyHint } from '../parts/KeyHint'
import { visible } from '../parts/visible'
import { Blocked } from '../reading/Blocked'
import { useAllowed } from '../reading/useAllowed'
import { useShortcut } from '../shell/shortcuts'
import { text } from './text'

interface Way {
  readonly disabled: boolean
}

interface KeyedWay extends Way {
  /** Whether the keys answer this question; only one on a page can have them. */
  readonly keys: boolean
}

interface VerdictProps extends KeyedWay {
  /** Under which name what is written is kept. */
  readonly keep: string
  /** Told with what a no is explained by, if it is. */
  readonly onVerdict: (approved: boolean, message?: string) => void
}

/** Yes or no. A yes is for all that is asked, so its end has to have been in view. */
export function Verdicts({ keys, disabled, keep, onVerdict }: VerdictProps) {
  const why = useId()
  const { isAllowed, only } = useAllowed(text.answer.approve)
  const approve = () => only(() => onVerdict(true))
  return (
    <div className="verdicts">
      <div className="row">
        <button
          type="button"
          className="button button--lamp button--large"
          disabled={disabled || !isAllowed}
          aria-describedby={why}
          onClick={approve}
        >
          {text.answer.approve} {keys && <KeyHint>y</KeyHint>}
        </button>
        <button
          type="button"
          className="button button--large"
          disabled={disabled}
          onClick={() => onVerdict(false)}
        >
          {text.answer.reject} {keys && <KeyHint>n</KeyHint>}
        </button>
        <Blocked id={why} yes={text.answer.approve} keys={keys} />
      </div>
      <Decline
        summary={text.answer.rejectWith}
        no={text.answer.sendRejection}
        {...{ disabled, keep }}
        decline={(message) => onVerdict(false, message)}
      />
      {keys && <Key name="y" label={text.answer.approve} run={approve} />}
      {keys && <Key name="n" label={text.answer.reject} run={() => onVerdict(false)} />}
    </div>
  )
}

interface OptionsProps extends KeyedWay {
  readonly options: ReadonlyArray<string>
  readonly onChoose: (option: string) => void
}

/** One of several. */
export function Options({ options, keys, disabled, onChoose }: OptionsProps) {
  return (
    <ul className="options__list">
      {options.map((option, index) => (
        <li key={option}>
          <button
            type="button"
            className="button button--large options__one"
            disabled={disabled}
            onClick={() => onChoose(option)}
          >
            <span className="grow" dir="auto">
              {visible(option)}
            </span>
            {keys && index < 9 && <KeyHint>{index + 1}</KeyHint>}
          </button>
          {keys && index < 9 && (
            <Key name={`${index + 1}`} label={option} run={() => onChoose(option)} />
          )}
        </li>
      ))}
    </ul>
  )
}

interface TextProps extends Way {
  readonly label: string
  /** Under which name what is written is kept. */
  readonly keep: string
  readonly onSend: (text: string) => void
  readonly onChange?: () => void
}

/** Words. */
export function TextAnswer({ disabled, label, keep, onSend, onChange }: TextProps) {
  const [written, setWritten] = useKept(keep, () => '')
  const id = useId()
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (written.trim() && !disabled) onSend(written)
  }
  return (
    <form className="answers__text" onSubmit={send}>
      <div className="field">
        <label htmlFor={id}>{label}</label>
        <textarea
          id={id}
          className="input"
          rows={3}
          value={written}
          onChange={(event) => {
            setWritten(event.target.value)
            onChange?.()
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event)
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
      </div>
      <div className="row">
        <button
          type="submit"
          className="button button--lamp"
          disabled={disabled || !written.trim()}
        >
          {text.answer.send}
        </button>
        <span className="field__hint">{text.answer.sends}</span>
      </div>
    </form>
  )
}

function Key(props: { readonly name: string; readonly label: string; readonly run: () => void }) {
  useShortcut(text.question.shortcuts, props.name, props.label, props.run)
  return null
}
