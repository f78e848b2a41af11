import { useUsage } from '@callboard/react'
import { useMemo, useState } from 'react'
import { dollars } from '../parts/amounts'
import { length } from '../parts/times'
import { onOneLine } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { type Ledger, ledgerOf, type Share } from './ledger'
import { text } from './text'

interface Props {
  readonly sessionId: string
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
}

/** What the session cost and where the time went. */
export function LedgerPanel({ sessionId, events, position }: Props) {
  const ledger = useMemo(() => ledgerOf(events, position), [events, position])
  const price = usePrice(sessionId, ledger)
  const [all, setAll] = useState(false)
  const shares = all ? ledger.shares : longest(ledger.shares)
  const most = Math.max(1, ...ledger.shares.map((share) => share.agents + share.people))
  return (
    <section className="panel" aria-label={text.ledger.title}>
      <header>
        <h2 className="grow">{text.ledger.title}</h2>
        <span className="quiet">{text.ledger.total(length(ledger.elapsed))}</span>
      </header>
      <div className="panel__body ledger">
        <ul className="ledger__shares">
          {shares.map((share) => (
            <Bar key={share.phase} share={share} most={most} />
          ))}
        </ul>
        {ledger.shares.length > FEW && (
          <p>
            <button type="button" className="button" onClick={() => setAll(!all)}>
              {all ? text.ledger.fewer : text.ledger.all(ledger.shares.length)}
            </button>
          </p>
        )}
        <p className="ledger__legend quiet">
          <span className="ledger__key is-agents" /> {text.ledger.agents(length(ledger.agents))}
          <span className="ledger__key is-people" /> {text.ledger.people(length(ledger.people))}
        </p>
        {ledger.usage.size > 0 && (
          <dl className="ledger__usage">
            {price !== null && events.at(-1)?.position === position && (
              <div>
                <dt>{text.ledger.listPrice}</dt>
                <dd>{dollars(price)}</dd>
              </div>
            )}
            {[...ledger.usage].map(([name, amount]) => (
              <div key={name}>
                <dt>{spaced(name)}</dt>
                <dd>{name === MONEY ? dollars(amount) : amount.toLocaleString()}</dd>
              </div>
            ))}
          </dl>
        )}
        {ledger.usage.size === 0 && <p className="quiet">{text.ledger.none}</p>}
      </div>
    </section>
  )
}

/** Where agents report money themselves. */
const MONEY = 'costUsd'
/** The longest period for which usage is reported. */
const MOST_DAYS = 365

/** What all tokens of the session cost at list prices; null where its agents say what they cost. */
function usePrice(sessionId: string, ledger: Ledger): number | null {
  const { data } = useUsage({ days: MOST_DAYS, by: 'model', stream: sessionId })
  return ledger.usage.has(MONEY) ? null : (data?.total.cost ?? null)
}

/** So many phases are shown at first. */
const FEW = 12

/** The phases that took most of the time, in their order. */
function longest(shares: ReadonlyArray<Share>): ReadonlyArray<Share> {
  if (shares.length <= FEW) return shares
  const time = (share: Share) => share.agents + share.people
  const kept = new Set([...shares].sort((a, b) => time(b) - time(a)).slice(0, FEW))
  return shares.filter((share) => kept.has(share))
}

function Bar({ share, most }: { readonly share: Share; readonly most: number }) {
  const width = (ms: number) => ({ width: `${(ms / most) * 100}%` })
  return (
    <li>
      <span className="ledger__phase" title={onOneLine(share.phase)}>
        {onOneLine(share.phase)}
      </span>
      <span className="ledger__bar" aria-hidden="true">
        <span className="is-agents" style={width(share.agents)} />
        <span className="is-people" style={width(share.people)} />
      </span>
      <span className="ledger__time">
        {length(share.agents + share.people)}
        <span className="hidden">
          {text.ledger.both(length(share.agents), length(share.people))}
        </span>
      </span>
    </li>
  )
}

/** `inputTokens` as `input tokens`. */
function spaced(name: string): string {
  return name.replaceAll(/([A-Z])/g, ' $1').toLowerCase()
}
