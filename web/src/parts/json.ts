/** Anything that JSON can say. */
export type Json =
  | null
  | boolean
  | number
  | string
  | ReadonlyArray<Json>
  | { readonly [key: string]: Json }

export function isBranch(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A step of a JSON Pointer (RFC 6901). */
export function escapeStep(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** How many members an array or an object has. */
export function size(value: object): number {
  return Array.isArray(value) ? value.length : Object.keys(value).length
}

/** The members of an array or an object, in their order. */
export function members(value: object): Array<[string, unknown]> {
  if (Array.isArray(value)) return value.map((item, index) => [String(index), item])
  return Object.entries(value)
}

const A_LINE = 40
const A_GLANCE = 40 * A_LINE

/** Whether a value is more than a person sees at a glance. It looks no further than it has to. */
export function isLarge(value: unknown): boolean {
  return weight(value, A_GLANCE) > A_GLANCE
}

function weight(value: unknown, most: number): number {
  if (!isBranch(value)) return Math.max(A_LINE, typeof value === 'string' ? value.length : 0)
  if (size(value) * A_LINE > most) return Number.POSITIVE_INFINITY
  let sum = A_LINE
  for (const [, member] of members(value)) {
    sum += weight(member, most - sum)
    if (sum > most) break
  }
  return sum
}
