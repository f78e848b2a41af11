import { type FormEvent, useId, useState } from 'react'
import { KeyHint } from '../parts/KeyHint'
import type { Interaction } from '../server/types'
import { type Answer, useAnswer } from '../server/useAnswer'
import { useShortcut } from '../shell/shortcuts'
import { mannerOf } from './manner'

interface Props {
  readonly question: Interaction
  /** Whether the keys answer this question; only one on a page can have them. */
  readonly keys: boolean
  /** Told when an answer did not count, and with null when a new one is tried. */
  readonly onRefused: (error: Error | null) => void
}

/** The ways to answer a question: with one click, one key, or a text. */
export function AnswerForm({ question, keys, onRefused }: Props) {
  const { mutate, isPending } = useAnswer()
  const answer = (given: Omit<Answer, 'id'>) => {
    if (isPending) return
    onRefused(null)
    mutate({ id: question.id, ...given }, { onError: onRefused })
  }
  return (
    <div className="answers">
      <Ways question={question} keys={keys} disabled={isPending} answer={answer} />
    </div>
  )
}

interface WaysProps extends Omit<Props, 'onRefused'> {
  readonly disabled: boolean
  readonly answer: (given: Omit<Answer, 'id'>) => void
}

function Ways(props: WaysProps) {
  switch (mannerOf(props.question)) {
    case 'verdict':
      return <Verdict {...props} />
    case 'option':
      return <Options {...props} />
    case 'text':
      return <FreeText {...props} label="Your answer" />
    case 'elsewhere':
      return (
        <p className="notice">
          This is a conversation. Take part with <code>callboard attend {props.question.id}</code>.
        </p>
      )
  }
}

function Verdict({ keys, disabled, answer }: WaysProps) {
  return (
    <div className="row">
      <button
        type="button"
        className="button button--lamp button--large"
        disabled={disabled}
        onClick={() => answer({ approved: true })}
      >
        Approve {keys && <KeyHint>y</KeyHint>}
      </button>
      <button
        type="button"
        className="button button--large"
        disabled={disabled}
        onClick={() => answer({ approved: false })}
      >
        Reject {keys && <KeyHint>n</KeyHint>}
      </button>
      {keys && <Key name="y" label="Approve" run={() => answer({ approved: true })} />}
      {keys && <Key name="n" label="Reject" run={() => answer({ approved: false })} />}
    </div>
  )
}

function Options(props: WaysProps) {
  const { question, keys, disabled, answer } = props
  return (
    <div className="options">
      <ul className="options__list">
        {(question.options ?? []).map((option, index) => (
          <li key={option}>
            <button
              type="button"
              className="button button--large options__one"
              disabled={disabled}
              onClick={() => answer({ value: option })}
            >
              <span className="grow">{option}</span>
              {keys && index < 9 && <KeyHint>{index + 1}</KeyHint>}
            </button>
            {keys && index < 9 && (
              <Key name={`${index + 1}`} label={option} run={() => answer({ value: option })} />
            )}
          </li>
        ))}
      </ul>
      {question.other && <FreeText {...props} label="Something else" />}
    </div>
  )
}

function FreeText({ disabled, answer, label }: WaysProps & { readonly label: string }) {
  const [text, setText] = useState('')
  const id = useId()
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim()) answer({ value: text })
  }
  return (
    <form className="answers__text" onSubmit={send}>
      <div className="field">
        <label htmlFor={id}>{label}</label>
        <textarea
          id={id}
          className="input"
          rows={3}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event)
            if (event.key === 'Escape') event.currentTarget.blur()
          }}
        />
      </div>
      <div className="row">
        <button type="submit" className="button button--lamp" disabled={disabled || !text.trim()}>
          Send
        </button>
        <span className="field__hint">Ctrl + Enter sends</span>
      </div>
    </form>
  )
}

function Key(props: { readonly name: string; readonly label: string; readonly run: () => void }) {
  useShortcut('This question', props.name, props.label, props.run)
  return null
}
