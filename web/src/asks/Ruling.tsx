import { useId, useRef, useState } from 'react'
import { KeyHint } from '../parts/KeyHint'
import { MessageField } from '../parts/MessageField'
import { Blocked } from '../reading/Blocked'
import { useAllowed } from '../reading/useAllowed'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import type { Ask } from './ask'
import { Edit } from './Edit'
import { type Rule, rulesOf } from './rules'
import { text } from './text'

/** What is sent: the word to the agent is called differently for permissions and for plans. */
export interface Verdict {
  readonly approved: boolean
  readonly message?: string
  readonly feedback?: string
  readonly always?: true
  readonly updatedInput?: Readonly<Record<string, unknown>>
}

interface Props {
  readonly type: 'permission' | 'plan'
  readonly ask: Ask
  readonly keys: boolean
  readonly disabled: boolean
  /** Whether there is little room: then what few need is folded away. */
  readonly compact: boolean
  /** Whether "always" was refused to the person who is signed in here. */
  readonly mayNotAlways: boolean
  /** Whether an edit was refused to them. */
  readonly mayNotEdit: boolean
  readonly rule: (verdict: Verdict) => void
}

const WORDS = {
  permission: { ...text.permission, word: 'message' },
  plan: { ...text.planned, word: 'feedback' },
} as const

/** Yes or no to a coding agent, with a message to it, and a rule where it proposes one. */
export function Ruling(props: Props) {
  const { type, ask, keys, disabled, compact, mayNotAlways, mayNotEdit, rule } = props
  const [remark, setRemark] = useState('')
  const why = useId()
  const { yes, no, word, label, folded } = WORDS[type]
  // A no needs no reading; a yes is for all of it.
  const { isAllowed, only } = useAllowed(yes, !ask.truncated)
  const deny = () => rule({ approved: false, ...(remark.trim() && { [word]: remark.trim() }) })
  const allow = () => only(() => rule({ approved: true }))
  const rules = rulesOf(ask.suggestions)
  const size = compact ? '' : 'button--large'
  const field = (
    <MessageField
      label={label}
      hint={text.sentWith(no)}
      text={remark}
      onChange={setRemark}
      send={() => remark.trim() && !disabled && deny()}
    />
  )
  return (
    <div className={compact ? 'ruling ruling--compact' : 'ruling'}>
      <div className="row">
        <button
          type="button"
          className={`button button--lamp ${size}`}
          disabled={disabled || !isAllowed}
          aria-describedby={why}
          onClick={allow}
        >
          {yes} {keys && <KeyHint>{KEYS.yes}</KeyHint>}
        </button>
        <button type="button" className={`button ${size}`} disabled={disabled} onClick={deny}>
          {no} {keys && <KeyHint>{KEYS.no}</KeyHint>}
        </button>
        <Blocked id={why} yes={yes} keys={keys} isKnown={!ask.truncated} />
      </div>
      {compact ? (
        <details className="folded">
          <summary>{folded}</summary>
          {field}
        </details>
      ) : (
        field
      )}
      {ask.editable && !compact && (
        <Edit
          input={ask.toolInput}
          disabled={disabled || !isAllowed}
          refused={mayNotEdit}
          allow={(updatedInput) => only(() => rule({ approved: true, updatedInput }))}
        />
      )}
      {rules.length > 0 && (
        <Always
          rules={rules}
          agent={ask.agent}
          // In the inbox, the same key assigns the question.
          keys={keys && compact}
          disabled={disabled || mayNotAlways || !isAllowed}
          refused={mayNotAlways}
          onAlways={() => only(() => rule({ approved: true, always: true }))}
        />
      )}
      {keys && <Keys yes={yes} no={no} allow={allow} deny={deny} />}
    </div>
  )
}

interface AlwaysProps {
  readonly rules: ReadonlyArray<Rule>
  readonly agent: string
  readonly keys: boolean
  readonly disabled: boolean
  readonly refused: boolean
  readonly onAlways: () => void
}

/** The rule is shown before it can be made: it holds for whatever the agent does later. */
function Always({ rules, agent, keys, disabled, refused, onAlways }: AlwaysProps) {
  const fold = useRef<HTMLDetailsElement>(null)
  // The key shows the rule and leads to its button: what it changes is read before Enter makes it.
  const show = () => {
    if (!fold.current) return
    fold.current.open = true
    const button = fold.current.querySelector<HTMLElement>('button:enabled')
    const target = button ?? fold.current.querySelector<HTMLElement>('summary')
    target?.focus()
  }
  return (
    <details className="folded always" ref={fold}>
      <summary>
        {text.always.folded} {keys && <KeyHint>{KEYS.always}</KeyHint>}
      </summary>
      <p>{text.always.rule(agent)}</p>
      <ul>
        {rules.map(({ does, exactly, where }) => (
          <li key={does + exactly.join()}>
            <span>{does}</span>
            {exactly.map((one) => (
              <code key={one}>{one}</code>
            ))}
            <span className="quiet">{where}</span>
          </li>
        ))}
      </ul>
      {refused && (
        <p className="quiet">
          {text.always.refused} <code>{text.always.scope}</code>.
        </p>
      )}
      <button type="button" className="button" disabled={disabled} onClick={onAlways}>
        {text.always.confirm}
      </button>
      {keys && <AlwaysKey show={show} />}
    </details>
  )
}

function AlwaysKey({ show }: { readonly show: () => void }) {
  useShortcut(text.keys.group, KEYS.always, text.keys.always, show)
  return null
}

interface KeysProps {
  readonly yes: string
  readonly no: string
  readonly allow: () => void
  readonly deny: () => void
}

function Keys({ yes, no, allow, deny }: KeysProps) {
  useShortcut(text.keys.group, KEYS.yes, yes, allow)
  useShortcut(text.keys.group, KEYS.no, no, deny)
  return null
}
