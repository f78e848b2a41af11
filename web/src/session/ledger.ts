import type { SerializedEvent } from '../server/types'
import { text } from './text'

/** Where the time of one phase went, in milliseconds. */
export interface Share {
  readonly phase: string
  agents: number
  people: number
}

/** What a session cost, as far as its agents reported it. */
export interface Ledger {
  readonly elapsed: number
  readonly agents: number
  readonly people: number
  readonly shares: ReadonlyArray<Share>
  /** What was used, by the agents' own names for it, such as `inputTokens`. */
  readonly usage: ReadonlyMap<string, number>
}

const CLOSES = new Set([
  'input:accepted',
  'input:received',
  'input:cancelled',
  'input:expired',
  'input:failed',
  'input:detached',
])

/** Add up the first `position` events. */
export function ledgerOf(events: ReadonlyArray<SerializedEvent>, position: number): Ledger {
  const sums: Sums = { shares: new Map(), usage: new Map(), open: new Map() }
  const past = events.filter((event) => event.position <= position)
  for (const event of past) add(sums, event)
  return { ...totals(past, [...sums.shares.values()]), usage: sums.usage }
}

interface Sums {
  readonly shares: Map<string, Share>
  readonly usage: Map<string, number>
  readonly open: Map<unknown, { readonly phase: unknown; readonly at: number }>
}

function add(sums: Sums, { name, payload, timestamp }: SerializedEvent): void {
  const at = Date.parse(timestamp)
  if (name === 'phase:entered') shareOf(sums, payload.phase)
  else if (name === 'agent:completed') {
    shareOf(sums, payload.phase).agents += Number(payload.durationMs) || 0
    addUsage(sums.usage, payload.usage)
  } else if (name === 'input:requested') sums.open.set(payload.id, { phase: payload.phase, at })
  else if (CLOSES.has(name)) {
    const asked = sums.open.get(payload.id)
    if (asked) shareOf(sums, asked.phase).people += at - asked.at
    sums.open.delete(payload.id)
  }
}

function shareOf({ shares }: Sums, phase: unknown): Share {
  const name = String(phase ?? text.ledger.elsewhere)
  const found = shares.get(name) ?? { phase: name, agents: 0, people: 0 }
  shares.set(name, found)
  return found
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
