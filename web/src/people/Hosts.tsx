import type { TeamHost } from '@callboard/react'
import { Ago } from '../parts/Ago'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { text } from './text'
import { useTeam } from './useTeam'

/** The machines that coding agents run on. */
export function Hosts() {
  const { data, error, refetch } = useTeam()
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="quiet">{text.loading}</p>
  return (
    <ul className="entries">
      {data.hosts.map((host) => (
        <li key={host.id}>
          <Host host={host} />
        </li>
      ))}
    </ul>
  )
}

function Host({ host }: { readonly host: TeamHost }) {
  const { id, name, isServer, plateCount, tokenCount, lastSeen } = host
  const about = [
    ...(isServer ? [text.hosts.isServer] : []),
    ...(id === name ? [] : [onOneLine(id)]),
  ]
  return (
    <>
      <div className="entries__who">
        <strong>{onOneLine(name)}</strong>
        {about.length > 0 && <span className="quiet">{about.join(' · ')}</span>}
      </div>
      <div className="entries__facts">
        <span>{text.hosts.sessions(plateCount)}</span>
        {tokenCount > 0 && <span>{text.hosts.tokens(tokenCount)}</span>}
        <span>
          {lastSeen === null ? (
            text.hosts.notSeen
          ) : (
            <>
              {text.hosts.seen} <Ago moment={lastSeen} />
            </>
          )}
        </span>
      </div>
    </>
  )
}
