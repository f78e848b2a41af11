import type { Plate } from '../server/types'
import { titleOf } from './names'

/** The orders within the groups, as in the terminal; the first is the usual one. */
export const ORDERS = ['waiting', 'latest', 'project'] as const
export type Order = (typeof ORDERS)[number]

/** The order of this name; the usual one for any other. */
export function orderOf(name: string | null): Order {
  return ORDERS.find((order) => order === name) ?? ORDERS[0]
}

/** The order after this one. */
export function nextOrder(order: Order): Order {
  return ORDERS[(ORDERS.indexOf(order) + 1) % ORDERS.length] ?? ORDERS[0]
}

/** Plates in an order; who needs a person stays first, and what is pinned leads its group. */
export function ordered(plates: ReadonlyArray<Plate>, order: Order): ReadonlyArray<Plate> {
  if (order === ORDERS[0]) return plates
  const placed = plates.map((plate) => ({ plate, place: placeOf(plate), name: nameOf(plate) }))
  placed.sort((a, b) => {
    if (a.place !== b.place) return a.place - b.place
    if (order === 'project') return compare(a.name, b.name)
    return compare(b.plate.updatedAt, a.plate.updatedAt)
  })
  return placed.map(({ plate }) => plate)
}

function nameOf(plate: Plate): string {
  return titleOf(plate).toLowerCase()
}

function placeOf({ attention, status, pinned }: Plate): number {
  const group = attention ? 0 : status === 'closed' ? 3 : status === 'idle' ? 2 : 1
  return group * 2 + (pinned ? 0 : 1)
}

/** Moments are ISO 8601, and names are already in lower case: no need for a language's own rules. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
