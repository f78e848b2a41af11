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
