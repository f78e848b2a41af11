import { type FormEvent, useId, useState } from 'react'
import { KeyHint } from '../parts/KeyHint'
import { visible } from '../parts/visible'
import { useShortcut } from '../shell/shortcuts'
import type { AgentQuestion } from './ask'
import { answersOf, type Chosen, NOTHING, toggled, written } from './chosen'
import { Decline } from './Decline'

interface Props {
  readonly questions: ReadonlyArray<AgentQuestion>
  /** How many more the agent asked than are shown. */
  readonly omitted: number
  readonly keys: boolean
  readonly disabled: boolean
  /** Whether there is little room. */
  readonly compact: boolean
  readonly answer: (answers: Readonly<Record<string, string | string[]>>) => void
  readonly decline: (message: string) => void
}

/** The questions of a coding agent: options, several of them where that is allowed, own words. */
export function Questions({ questions, omitted, keys, disabled, compact, answer, decline }: Props) {
  const [chosen, setChosen] = useState<Readonly<Record<string, Chosen>>>({})
  const answers = answersOf(questions, chosen)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (answers && !disabled) answer(answers)
  }
  return (
    <form
      className={compact ? 'asking asking--compact' : 'asking'}
      onSubmit={send}
      aria-label="Answer"
    >
      {questions.map((question, index) => (
        <OneQuestion
          key={question.question}
          question={question}
          chosen={chosen[question.question] ?? NOTHING}
          keys={keys && index === 0}
          onChange={(one) => setChosen((all) => ({ ...all, [question.question]: one }))}
        />
      ))}
      <Omitted count={omitted} what="question" />
      <div className="row">
        <button
          type="submit"
          className={`button button--lamp ${compact ? '' : 'button--large'}`}
          disabled={disabled || !answers}
        >
          Answer
        </button>
        {!answers && <span className="field__hint">{missing(questions)}</span>}
      </div>
      <Decline summary="Decline to answer…" no="Decline" disabled={disabled} decline={decline} />
    </form>
  )
}

function missing(questions: ReadonlyArray<AgentQuestion>): string {
  return questions.length > 1 ? 'Answer every question.' : 'Choose an option, or write an answer.'
}

interface OmittedProps {
  readonly count: number
  readonly what: string
}

function Omitted({ count, what }: OmittedProps) {
  if (count === 0) return null
  const more = count === 1 ? `1 more ${what} is` : `${count} more ${what}s are`
  return (
    <p className="quiet" role="note">
      {more} too long to show, or too many. Answer in the agent’s own terminal to see all.
    </p>
  )
}

interface OneProps {
  readonly question: AgentQuestion
  readonly chosen: Chosen
  readonly keys: boolean
  readonly onChange: (chosen: Chosen) => void
}

function OneQuestion({ question, chosen, keys, onChange }: OneProps) {
  const name = useId()
  const choose = (label: string) => onChange(toggled(question, chosen, label))
  return (
    <fieldset className="asking__one">
      <legend>
        {question.header && <span className="asking__header">{visible(question.header)}</span>}
        {visible(question.question)}
        {question.multiSelect && <span className="quiet"> Choose one or more.</span>}
      </legend>
      <div className="asking__options">
        {question.options.map(({ label, description, preview }, index) => (
          <label key={label} className="asking__option">
            <input
              type={question.multiSelect ? 'checkbox' : 'radio'}
              name={name}
              checked={chosen.labels.includes(label)}
              onChange={() => choose(label)}
            />
            <span className="grow">
              <strong>{visible(label)}</strong>
              {description && <span className="quiet">{visible(description)}</span>}
              {preview && <pre className="asking__preview">{visible(preview)}</pre>}
            </span>
            {keys && index < 9 && <KeyHint>{index + 1}</KeyHint>}
            {keys && index < 9 && <Key at={index + 1} label={label} choose={choose} />}
          </label>
        ))}
      </div>
      <Omitted count={question.omitted} what="option" />
      <label className="field">
        <span className="field__hint">
          {question.options.length > 0 ? 'Or in your own words' : 'Your answer'}
        </span>
        <textarea
          className="input"
          rows={1}
          value={chosen.own}
          onChange={(event) => onChange(written(question, chosen, event.target.value))}
          onKeyDown={(event) => {
            if (event.key === 'Escape') event.currentTarget.blur()
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.currentTarget.form?.requestSubmit()
            }
          }}
        />
      </label>
    </fieldset>
  )
}

interface KeyProps {
  readonly at: number
  readonly label: string
  readonly choose: (label: string) => void
}

function Key({ at, label, choose }: KeyProps) {
  useShortcut('This question', String(at), label, () => choose(label))
  return null
}
