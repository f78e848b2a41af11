import { useId, useMemo, useState } from 'react'
import { lineCount } from '../parts/excerpt'
import { TextDiff } from '../parts/TextDiff'
import { onOneLine } from '../parts/visible'
import { type Drafts, differences, draftsOf, inputOf } from './edits'
import { text } from './text'

type Input = Readonly<Record<string, unknown>>

interface Props {
  readonly input: Input
  readonly disabled: boolean
  /** Whether an edit was refused to the person who is signed in here. */
  readonly refused: boolean
  readonly allow: (input: Input) => void
}

/** Changes what a tool is about to do, before it is allowed; shown as a difference first. */
export function Edit({ input, disabled, refused, allow }: Props) {
  const [drafts, setDrafts] = useState<Drafts>(() => draftsOf(input))
  const { input: edited, wrong } = useMemo(() => inputOf(input, drafts), [input, drafts])
  const changed = differences(input, edited)
  return (
    <details className="folded edit">
      <summary>{text.edited.folded}</summary>
      {Object.keys(input).map((key) => (
        <Member
          key={key}
          name={key}
          draft={drafts[key] ?? ''}
          problem={wrong === key ? text.edited.notJson : null}
          onChange={(draft) => setDrafts({ ...drafts, [key]: draft })}
        />
      ))}
      {changed.length > 0 && <Differences before={input} after={edited} />}
      <p className="quiet">{text.edited.unknown}</p>
      {refused && (
        <p className="quiet">
          {text.edited.refused} <code>{text.always.scope}</code>.
        </p>
      )}
      <button
        type="button"
        className="button"
        disabled={disabled || refused || changed.length === 0}
        onClick={() => allow(edited)}
      >
        {text.edited.confirm}
      </button>
    </details>
  )
}

interface MemberProps {
  readonly name: string
  readonly draft: string
  readonly problem: string | null
  readonly onChange: (draft: string) => void
}

function Member({ name, draft, problem, onChange }: MemberProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{onOneLine(name)}</label>
      <textarea
        id={id}
        className="input edit__text"
        rows={Math.min(16, lineCount(draft))}
        spellCheck={false}
        value={draft}
        aria-invalid={problem !== null}
        aria-describedby={problem ? `${id}-problem` : undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      {problem && (
        <span className="field__hint" id={`${id}-problem`}>
          {problem}
        </span>
      )}
    </div>
  )
}

interface DifferencesProps {
  readonly before: Input
  readonly after: Input
  readonly title?: string
}

/** What a person changed in a call, member by member. */
export function Differences({ before, after, title = text.edited.title }: DifferencesProps) {
  const changed = differences(before, after)
  return (
    <section className="edit__changes" aria-label={title}>
      <h3>{title}</h3>
      {changed.map(({ key, before, after }) => (
        <div key={key} className="toolcall__text">
          <p className="toolcall__edit">{onOneLine(key)}</p>
          <TextDiff before={before} after={after} />
        </div>
      ))}
    </section>
  )
}
