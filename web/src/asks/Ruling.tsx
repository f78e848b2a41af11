import { useId, useState } from 'react'
import { KeyHint } from '../parts/KeyHint'
import { MessageField } from '../parts/MessageField'
import { Blocked } from '../reading/Blocked'
import { useAllowed } from '../reading/useAllowed'
import { useShortcut } from '../shell/shortcuts'
import type { Ask } from './ask'
import { type Rule, rulesOf } from './rules'

/** What is sent: the word to the agent is called differently for permissions and for plans. */
export interface Verdict {
  readonly approved: boolean
  readonly message?: string
  readonly feedback?: string
  readonly always?: true
}

interface Props {
  readonly type: 'permission' | 'plan'
  readonly ask: Ask
  readonly keys: boolean
  readonly disabled: boolean
  /** Whether there is little room: then what few need is folded away. */
  readonly compact: boolean
  /** Whether "always" was refused to whoever is signed in here. */
  readonly mayNotAlways: boolean
  readonly rule: (verdict: Verdict) => void
}

const WORDS = {
  permission: {
    yes: 'Allow',
    no: 'Deny',
    word: 'message',
    label: 'Feedback for the agent',
    folded: 'Deny with feedback…',
  },
  plan: {
    yes: 'Approve plan',
    no: 'Keep planning',
    word: 'feedback',
    label: 'Requested changes',
    folded: 'Request changes…',
  },
} as const

/** Yes or no to a coding agent, with a message to it, and a rule where it proposes one. */
export function Ruling({ type, ask, keys, disabled, compact, mayNotAlways, rule }: Props) {
  const [text, setText] = useState('')
  const why = useId()
  const { yes, no, word, label, folded } = WORDS[type]
  // A no needs no reading; a yes is for all of it.
  const { isAllowed, only } = useAllowed(yes, !ask.truncated)
  const deny = () => rule({ approved: false, ...(text.trim() && { [word]: text.trim() }) })
  const allow = () => only(() => rule({ approved: true }))
  const rules = rulesOf(ask.suggestions)
  const size = compact ? '' : 'button--large'
  const remark = (
    <MessageField
      label={label}
      hint={`Sent to the agent with “${no}”. Ctrl + Enter sends both.`}
      text={text}
      onChange={setText}
      send={() => text.trim() && !disabled && deny()}
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
          {yes} {keys && <KeyHint>y</KeyHint>}
        </button>
        <button type="button" className={`button ${size}`} disabled={disabled} onClick={deny}>
          {no} {keys && <KeyHint>n</KeyHint>}
        </button>
        <Blocked id={why} yes={yes} keys={keys} isKnown={!ask.truncated} />
      </div>
      {compact ? (
        <details className="folded">
          <summary>{folded}</summary>
          {remark}
        </details>
      ) : (
        remark
      )}
      {rules.length > 0 && (
        <Always
          rules={rules}
          agent={ask.agent}
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
  readonly disabled: boolean
  readonly refused: boolean
  readonly onAlways: () => void
}

/** The rule is shown before it can be made: it holds for whatever the agent does later. */
function Always({ rules, agent, disabled, refused, onAlways }: AlwaysProps) {
  return (
    <details className="folded always">
      <summary>Always allow…</summary>
      <p>This rule is added to the settings of {agent}, which then stops asking:</p>
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
          You can answer, but not change settings. That needs a token with the scope{' '}
          <code>operate</code>.
        </p>
      )}
      <button type="button" className="button" disabled={disabled} onClick={onAlways}>
        Always allow this
      </button>
    </details>
  )
}

interface KeysProps {
  readonly yes: string
  readonly no: string
  readonly allow: () => void
  readonly deny: () => void
}

function Keys({ yes, no, allow, deny }: KeysProps) {
  useShortcut('This question', 'y', yes, allow)
  useShortcut('This question', 'n', no, deny)
  return null
}
