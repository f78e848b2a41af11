import { Forbidden } from '@callboard/react'
import { type FormEvent, useId, useState } from 'react'
import { askOf } from '../asks/ask'
import { Questions } from '../asks/Questions'
import { type Verdict as Ruled, Ruling } from '../asks/Ruling'
import { KeyHint } from '../parts/KeyHint'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { type Answer, useAnswer } from '../server/useAnswer'
import { useShortcut } from '../shell/shortcuts'
import { mannerOf } from './manner'

interface Props {
  readonly question: Interaction
  /** Whether the keys answer this question; only one on a page can have them. */
  readonly keys: boolean
  /** Whether there is little room, as on a card of the board. */
  readonly compact?: boolean
  /** Told when an answer did not count, and with null when a new one is tried. */
  readonly onRefused: (error: Error | null) => void
}

/** The ways to answer a question: with one click, one key, or a text. */
export function AnswerForm({ question, keys, compact = false, onRefused }: Props) {
  const { mutate, isPending } = useAnswer()
  const answer: Send = (given, onError) => {
    if (isPending) return
    onRefused(null)
    mutate(
      { id: question.id, ...given },
      {
        onError: (error) => {
          onError?.(error)
          onRefused(error)
        },
      },
    )
  }
  return (
    <div className="answers">
      <Ways {...{ question, keys, compact, answer }} disabled={isPending} />
    </div>
  )
}

type Send = (given: Omit<Answer, 'id'>, onError?: (error: Error) => void) => void

interface WaysProps extends Required<Omit<Props, 'onRefused'>> {
  readonly disabled: boolean
  readonly answer: Send
}

function Ways(props: WaysProps) {
  switch (mannerOf(props.question)) {
    case 'verdict':
      return <Verdict {...props} />
    case 'option':
      return <Options {...props} />
    case 'text':
      return <FreeText {...props} label="Your answer" />
    case 'ruling':
      return <AgentRuling {...props} />
    case 'answers':
      return <AgentQuestions {...props} />
    case 'elsewhere':
      return (
        <p className="notice">
          This is a conversation. Take part with <code>callboard attend {props.question.id}</code>.
        </p>
      )
  }
}

// Known once it was refused; whoever signs in anew begins with a page of their own.
let mayNotAlways = false

function AgentRuling(props: WaysProps) {
  const { question, keys, disabled, compact, answer } = props
  const ask = askOf(question)
  if (!ask) return <Verdict {...props} />
  const rule = (value: Ruled) =>
    answer({ value }, (error) => {
      if (value.always && error instanceof Forbidden) mayNotAlways = true
    })
  const type = question.type === 'plan' ? 'plan' : 'permission'
  return <Ruling {...{ type, ask, keys, disabled, compact, mayNotAlways, rule }} />
}

function AgentQuestions(props: WaysProps) {
  const { question, keys, disabled, compact, answer } = props
  const questions = askOf(question)?.questions ?? []
  if (questions.length === 0) return <FreeText {...props} label="Your answer" />
  const send = (answers: Readonly<Record<string, unknown>>) => answer({ value: { answers } })
  return <Questions {...{ questions, keys, disabled, compact }} answer={send} />
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
              <span className="grow">{visible(option)}</span>
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
