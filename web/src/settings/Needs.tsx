import type { TokenHolder } from '@callboard/react'
import { Command } from '../parts/Command'
import { text as people } from '../people/text'
import { signInCommand } from '../shell/signIn'
import { text } from './text'
import { useServer } from './useServer'

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
        <strong>{text.needs[needed]}</strong> {text.needs.yours(people.roles[scope])}{' '}
        {isOperator ? text.needs.signIn : text.needs.ask}
      </p>
      {isOperator && <OpenAsAdmin />}
    </div>
  )
}

/** The command as this server's own machine needs it. */
function OpenAsAdmin() {
  const { data, error } = useServer()
  const command = data?.signIn ?? (error ? signInCommand(error, window.location) : null)
  return command && <Command command={`${command} --admin`} />
}
