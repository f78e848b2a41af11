import { escapeStep, isBranch } from './json'

/** One place where two values differ, as a JSON Pointer. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** How many are shown; who changes more than this reads no list of changes. */
export const MOST = 500

/** Where two values differ, in the order of the first. Arrays are compared place by place. */
export function differences(before: unknown, after: unknown, most = MOST): Difference[] {
  return new Search(most).compare(before, after)
}

class Search {
  private readonly found: Difference[] = []

  constructor(private readonly most: number) {}

  compare(before: unknown, after: unknown, path = ''): Difference[] {
    if (before === after || this.isFull) return this.found
    const alike = Array.isArray(before) === Array.isArray(after)
    if (isBranch(before) && isBranch(after) && alike) this.inside(before, after, path)
    else this.found.push({ kind: 'changed', path, before, after })
    return this.found
  }

  private get isFull(): boolean {
    return this.found.length >= this.most
  }

  private inside(before: object, after: object, path: string): void {
    const old = before as Readonly<Record<string, unknown>>
    const now = after as Readonly<Record<string, unknown>>
    for (const key of Object.keys(old)) {
      if (this.isFull) return
      const at = `${path}/${escapeStep(key)}`
      if (Object.hasOwn(now, key)) this.compare(old[key], now[key], at)
      else this.found.push({ kind: 'removed', path: at, before: old[key] })
    }
    for (const key of Object.keys(now)) {
      if (this.isFull) return
      if (Object.hasOwn(old, key)) continue
      this.found.push({ kind: 'added', path: `${path}/${escapeStep(key)}`, after: now[key] })
    }
  }
}
