import { useMemo } from 'react'
import { length } from '../parts/times'
import type { SerializedEvent } from '../server/types'
import { ledgerOf, type Share } from './ledger'

interface Props {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
}

/** What the session cost and where the time went. */
export function LedgerPanel({ events, position }: Props) {
  const ledger = useMemo(() => ledgerOf(events, position), [events, position])
  const most = Math.max(1, ...ledger.shares.map((share) => share.agents + share.people))
  return (
    <section className="panel" aria-label="Cost and time">
      <header>
        <h2 className="grow">Cost and time</h2>
        <span className="quiet">{length(ledger.elapsed)} in all</span>
      </header>
      <div className="panel__body ledger">
        <ul className="ledger__shares">
          {ledger.shares.map((share) => (
            <Bar key={share.phase} share={share} most={most} />
          ))}
        </ul>
        <p className="ledger__legend quiet">
          <span className="ledger__key is-agents" /> agents {length(ledger.agents)}
          <span className="ledger__key is-people" /> people {length(ledger.people)}
        </p>
        {ledger.usage.size > 0 && (
          <dl className="ledger__usage">
            {[...ledger.usage].map(([name, amount]) => (
              <div key={name}>
                <dt>{spaced(name)}</dt>
                <dd>{amount.toLocaleString()}</dd>
              </div>
            ))}
          </dl>
        )}
        {ledger.usage.size === 0 && <p className="quiet">No usage reported.</p>}
      </div>
    </section>
  )
}

function Bar({ share, most }: { readonly share: Share; readonly most: number }) {
  const width = (ms: number) => ({ width: `${(ms / most) * 100}%` })
  return (
    <li>
      <span className="ledger__phase">{share.phase}</span>
      <span className="ledger__bar" aria-hidden="true">
        <span className="is-agents" style={width(share.agents)} />
        <span className="is-people" style={width(share.people)} />
      </span>
      <span className="ledger__time">
        {length(share.agents + share.people)}
        <span className="hidden">
          {`: agents ${length(share.agents)}, people ${length(share.people)}`}
        </span>
      </span>
    </li>
  )
}

/** `inputTokens` as `input tokens`. */
function spaced(name: string): string {
  return name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
}
