import { escapeStep, isBranch } from './json'

/** One place where two values differ, as a JSON Pointer. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** How many are looked for; who changes more than this reads no list of changes. */
export const MOST = 500

/** Where two values differ, in the order of the first. Arrays are compared place by place. */
export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  collect(before, after, '', found)
  return found
}

function collect(before: unknown, after: unknown, path: string, found: Difference[]): void {
  if (before === after || found.length >= MOST) return
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    found.push({ kind: 'changed', path, before, after })
    return
  }
  inside(before, after, path, found)
}

function inside(before: object, after: object, path: string, found: Difference[]): void {
  const old = before as Readonly<Record<string, unknown>>
  const now = after as Readonly<Record<string, unknown>>
  for (const key of Object.keys(old)) {
    const at = `${path}/${escapeStep(key)}`
    if (Object.hasOwn(now, key)) collect(old[key], now[key], at, found)
    else found.push({ kind: 'removed', path: at, before: old[key] })
  }
  for (const key of Object.keys(now)) {
    if (found.length >= MOST) return
    if (!Object.hasOwn(old, key)) {
      found.push({ kind: 'added', path: `${path}/${escapeStep(key)}`, after: now[key] })
    }
  }
}
