import { type NewToken, type Token, useWorkflowClient } from '@callboard/react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Ago } from '../parts/Ago'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { Confirm } from './Confirm'
import { CreateToken } from './CreateToken'
import { Secret } from './Secret'
import { text } from './text'
import { TEAM } from './useTeam'

const KEY = [TEAM, 'tokens']

/** The access tokens: create and revoke them. */
export function Tokens() {
  const client = useWorkflowClient()
  const queries = useQueryClient()
  const [isCreating, setCreating] = useState(false)
  const [made, setMade] = useState<NewToken | null>(null)
  const [leaving, setLeaving] = useState<Token | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => client.listTokens(signal),
  })
  const created = (token: NewToken) => {
    setCreating(false)
    setMade(token)
    void queries.invalidateQueries({ queryKey: [TEAM] })
  }
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="quiet">{text.loading}</p>
  return (
    <>
      {data.length === 0 && <p className="quiet">{text.tokens.none}</p>}
      {data.length > 0 && <List tokens={data} onRevoke={setLeaving} />}
      <button type="button" className="button" onClick={() => setCreating(true)}>
        {text.tokens.create}
      </button>
      {isCreating && <CreateToken onClose={() => setCreating(false)} onCreated={created} />}
      {made && <Secret made={made} onClose={() => setMade(null)} />}
      {leaving && <Revoke token={leaving} onClose={() => setLeaving(null)} />}
    </>
  )
}

interface ListProps {
  readonly tokens: ReadonlyArray<Token>
  readonly onRevoke: (token: Token) => void
}

function List({ tokens, onRevoke }: ListProps) {
  return (
    <ul className="entries">
      {tokens.map((token) => (
        <li key={token.id}>
          <div className="entries__who">
            <strong>{onOneLine(token.name)}</strong>
            <span className="quiet">{about(token)}</span>
          </div>
          <div className="entries__facts">
            <span>
              {text.tokens.created} <Ago moment={token.createdAt} />
            </span>
            <Expiry token={token} />
          </div>
          <button
            type="button"
            className="button button--danger"
            aria-label={text.tokens.revokeOne(token.name)}
            onClick={() => onRevoke(token)}
          >
            {text.tokens.revoke}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** What a token may do, for whom, and where. */
function about({ scope, name, person, groups, host }: Token): string {
  return [
    text.roles[scope],
    ...(person === name ? [] : [onOneLine(person)]),
    ...groups.map(onOneLine),
    ...(host === null ? [] : [text.tokens.onlyFor(onOneLine(host))]),
  ].join(' · ')
}

function Expiry({ token }: { readonly token: Token }) {
  const { expires, expired, neverExpires } = text.tokens
  if (!token.expiresAt) return <span>{neverExpires}</span>
  const isOver = Date.parse(token.expiresAt) <= Date.now()
  return (
    <span className={isOver ? 'entries__over' : undefined}>
      {isOver ? expired : expires} <Ago moment={token.expiresAt} />
    </span>
  )
}

interface RevokeProps {
  readonly token: Token
  readonly onClose: () => void
}

function Revoke({ token, onClose }: RevokeProps) {
  const client = useWorkflowClient()
  return (
    <Confirm
      title={text.tokens.revokeTitle(token.name)}
      why={text.tokens.revokeWhy}
      action={text.tokens.revoke}
      done={text.tokens.revoked(token.name)}
      work={() => client.revokeToken(token.id)}
      onClose={onClose}
    />
  )
}
