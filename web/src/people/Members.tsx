import type { TeamMember } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { text } from './text'
import { useTeam } from './useTeam'

/** Everyone who has a token or has signed in lately. */
export function Members() {
  const { data, error, refetch } = useTeam()
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="quiet">{text.loading}</p>
  if (data.people.length === 0) return <p className="quiet">{text.people.none}</p>
  return (
    <ul className="entries">
      {data.people.map((member) => (
        <li key={member.person}>
          <Member member={member} />
        </li>
      ))}
    </ul>
  )
}

function Member({ member }: { readonly member: TeamMember }) {
  const { person, scope, groups, tokenCount, lastSeen, byProxy } = member
  const about = [text.roles[scope], ...groups.map(onOneLine)].join(' · ')
  return (
    <>
      <div className="entries__who">
        <strong>{onOneLine(person)}</strong>
        <span className="quiet">{about}</span>
      </div>
      <div className="entries__facts">
        {tokenCount > 0 && <span>{text.people.tokens(tokenCount)}</span>}
        <span>
          {lastSeen === null ? (
            text.people.notSeen
          ) : (
            <>
              {byProxy ? text.people.byProxy : text.people.signedIn} <Ago moment={lastSeen} />
            </>
          )}
        </span>
      </div>
    </>
  )
}
