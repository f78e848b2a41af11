import { type RelayHost, type TeamHost, useHosts, useWorkflowClient } from '@callboard/react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Unreachable } from '../board/Unreachable'
import { Ago } from '../parts/Ago'
import { CheckIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { Confirm } from './Confirm'
import { PairHost } from './PairHost'
import { text } from './text'
import { TEAM, useTeam } from './useTeam'

/** The machines that coding agents run on: pair and remove them. */
export function Hosts() {
  const { data, error, refetch } = useTeam()
  const [leaving, setLeaving] = useState<TeamHost | null>(null)
  const relays = useFreshTeam()
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="quiet">{text.loading}</p>
  return (
    <>
      <ul className="entries">
        {data.hosts.map((host) => (
          <li key={host.id}>
            <Host host={host} relay={relays.find((relay) => relay.id === host.id)} />
            {!host.isServer && (
              <button
                type="button"
                className="button button--danger"
                aria-label={text.hosts.removeOne(onOneLine(host.name))}
                onClick={() => setLeaving(host)}
              >
                {text.hosts.remove}
              </button>
            )}
          </li>
        ))}
      </ul>
      <PairHost />
      {leaving && <Remove host={leaving} onClose={() => setLeaving(null)} />}
    </>
  )
}

/** The machines with a relay. Asks for the team again when one comes or goes. */
function useFreshTeam(): readonly RelayHost[] {
  const queries = useQueryClient()
  const { hosts } = useHosts()
  const standing = hosts.map((host) => `${host.id} ${host.connected}`).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of it is the reason to ask
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: [TEAM] })
  }, [queries, standing])
  return hosts
}

interface HostProps {
  readonly host: TeamHost
  readonly relay: RelayHost | undefined
}

function Host({ host, relay }: HostProps) {
  const { id, name, isServer, plateCount, tokenCount } = host
  const powers = relay?.powers ?? []
  const about = [
    ...(isServer ? [text.hosts.isServer] : []),
    ...(id === name ? [] : [onOneLine(id)]),
    ...(powers.length > 0 ? [text.hosts.allows(powers.map(onOneLine).join(', '))] : []),
  ]
  return (
    <>
      <div className="entries__who">
        <strong>{onOneLine(name)}</strong>
        {about.length > 0 && <span className="quiet">{about.join(' · ')}</span>}
        {relay?.contestedAt != null && (
          <span className="entries__bad">
            {text.hosts.contested} <Ago moment={relay.contestedAt} />
          </span>
        )}
      </div>
      <div className="entries__facts">
        <span>{text.hosts.sessions(plateCount)}</span>
        {tokenCount > 0 && <span>{text.hosts.tokens(tokenCount)}</span>}
        <Reached host={host} />
      </div>
    </>
  )
}

/** Whether a machine with a relay can be reached; when others reported last. */
function Reached({ host: { connected, lastSeen } }: { readonly host: TeamHost }) {
  if (connected) {
    return (
      <span className="entries__good">
        <CheckIcon /> {text.hosts.connected}
      </span>
    )
  }
  if (lastSeen === null) return <span>{text.hosts.notSeen}</span>
  if (connected === false) return <Unreachable since={lastSeen} />
  return (
    <span>
      {text.hosts.seen} <Ago moment={lastSeen} />
    </span>
  )
}

interface RemoveProps {
  readonly host: TeamHost
  readonly onClose: () => void
}

function Remove({ host, onClose }: RemoveProps) {
  const client = useWorkflowClient()
  const name = onOneLine(host.name)
  return (
    <Confirm
      title={text.hosts.removeTitle(name)}
      why={text.hosts.removeWhy}
      action={text.hosts.remove}
      done={text.hosts.removed(name)}
      work={() => client.removeHost(host.id)}
      onClose={onClose}
    />
  )
}
