import { type FormEvent, useId } from 'react'
import { useKept } from '../forms/useKept'
import { KeyHint } from '../parts/KeyHint'
import { visible } from '../parts/visible'
import { NUMBERED } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import type { AgentQuestion } from './ask'
import { answersOf, type Chosen, NOTHING, toggled, written } from './chosen'
import { Decline } from './Decline'
import { text } from './text'

interface Props {
  readonly questions: ReadonlyArray<AgentQuestion>
  /** How many more the agent asked than are shown. */
  readonly omitted: number
  readonly keys: boolean
  readonly disabled: boolean
  /** Whether there is little room. */
  readonly compact: boolean
  /** Under which name what was chosen is kept until it is sent. */
  readonly keep: string
  readonly answer: (answers: Readonly<Record<string, string | string[]>>) => void
  readonly decline: (message: string) => void
}

/** The questions of a coding agent: options, several of them where that is allowed, own words. */
export function Questions(props: Props) {
  const { questions, omitted, keys, disabled, compact, keep, answer, decline } = props
  const [chosen, setChosen] = useKept<Readonly<Record<string, Chosen>>>(keep, () => ({}))
  const answers = answersOf(questions, chosen)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (answers && !disabled) answer(answers)
  }
  return (
    <form
      className={compact ? 'asking asking--compact' : 'asking'}
      onSubmit={send}
      aria-label={text.answer}
    >
      {questions.map((question, index) => (
        <OneQuestion
          key={question.question}
          question={question}
          chosen={chosen[question.question] ?? NOTHING}
          keys={keys && index === 0}
          onChange={(one) => setChosen({ ...chosen, [question.question]: one })}
        />
      ))}
      {omitted > 0 && <Omitted>{text.omittedQuestions(omitted)}</Omitted>}
      <div className="row">
        <button
          type="submit"
          className={`button button--lamp ${compact ? '' : 'button--large'}`}
          disabled={disabled || !answers}
        >
          {text.answer}
        </button>
        {!answers && <span className="field__hint">{missing(questions)}</span>}
      </div>
      <Decline
        summary={text.declineFolded}
        no={text.decline}
        {...{ keys, disabled, keep, decline }}
      />
    </form>
  )
}

function missing(questions: ReadonlyArray<AgentQuestion>): string {
  return questions.length > 1 ? text.answerAll : text.answerOne
}

function Omitted({ children }: { readonly children: string }) {
  return (
    <p className="quiet" role="note">
      {children}
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
        {question.multiSelect && <span className="quiet"> {text.several}</span>}
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
              {preview && (
                // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
                <pre className="asking__preview" tabIndex={0}>
                  {visible(preview)}
                </pre>
              )}
            </span>
            {keys && index < NUMBERED && <KeyHint>{index + 1}</KeyHint>}
            {keys && index < NUMBERED && <Key at={index + 1} label={label} choose={choose} />}
          </label>
        ))}
      </div>
      {question.omitted > 0 && <Omitted>{text.omittedOptions(question.omitted)}</Omitted>}
      <label className="field">
        <span className="field__hint">
          {question.options.length > 0 ? text.ownWords : text.yourAnswer}
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
  useShortcut(text.keys.group, String(at), label, () => choose(label))
  return null
}
