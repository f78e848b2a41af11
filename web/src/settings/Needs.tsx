import type { TokenHolder } from '@callboard/react'
import { text } from './text'

const COMMAND = 'callboard open --admin'

interface Props {
  readonly needed: 'operate' | 'admin'
  readonly scope: TokenHolder['scope']
}

/** What a part needs that this person does not have, and how to get it. */
export function Needs({ needed, scope }: Props) {
  const isOperator = scope === 'operate'
  return (
    <div className="notice">
      <p>
        <strong>{text.needs[needed]}</strong> {text.needs.yours(text.roles[scope])}{' '}
        {isOperator ? text.needs.signIn : text.needs.ask}
      </p>
      {isOperator && (
        <p>
          <code>{COMMAND}</code>
        </p>
      )}
    </div>
  )
}
