import type { SerializedEvent } from '../server/types'

/** Where the time of one phase went, in milliseconds. */
export interface Share {
  readonly phase: string
  agents: number
  people: number
}

/** What a session cost, as far as its agents told. */
export interface Ledger {
  readonly elapsed: number
  readonly agents: number
  readonly people: number
  readonly shares: ReadonlyArray<Share>
  /** What was used, by the agents' own names for it, such as `inputTokens`. */
  readonly usage: ReadonlyMap<string, number>
}

const CLOSES = new Set(['input:received', 'input:cancelled', 'input:expired', 'input:failed'])

/** Add up the first `position` events. */
export function ledgerOf(events: ReadonlyArray<SerializedEvent>, position: number): Ledger {
  const shares = new Map<string, Share>()
  const usage = new Map<string, number>()
  const open = new Map<unknown, { phase: string; at: number }>()
  const share = (phase: unknown): Share => {
    const name = String(phase ?? 'elsewhere')
    const found = shares.get(name) ?? { phase: name, agents: 0, people: 0 }
    shares.set(name, found)
    return found
  }
  const past = events.filter((event) => event.position <= position)
  for (const { name, payload, timestamp } of past) {
    if (name === 'phase:entered') share(payload.phase)
    if (name === 'agent:completed') {
      share(payload.phase).agents += Number(payload.durationMs) || 0
      addUsage(usage, payload.usage)
    } else if (name === 'input:requested') {
      open.set(payload.id, { phase: String(payload.phase), at: Date.parse(timestamp) })
    } else if (CLOSES.has(name)) {
      const asked = open.get(payload.id)
      if (asked) share(asked.phase).people += Date.parse(timestamp) - asked.at
      open.delete(payload.id)
    }
  }
  return { ...totals(past, [...shares.values()]), usage }
}

function totals(past: ReadonlyArray<SerializedEvent>, shares: ReadonlyArray<Share>) {
  const [first, last] = [past[0], past.at(-1)]
  const elapsed = first && last ? Date.parse(last.timestamp) - Date.parse(first.timestamp) : 0
  const sum = (of: (share: Share) => number) => shares.reduce((total, one) => total + of(one), 0)
  return { elapsed, shares, agents: sum((one) => one.agents), people: sum((one) => one.people) }
}

function addUsage(into: Map<string, number>, usage: unknown): void {
  if (typeof usage !== 'object' || usage === null) return
  for (const [key, value] of Object.entries(usage)) {
    if (typeof value === 'number' && value > 0) into.set(key, (into.get(key) ?? 0) + value)
  }
}
