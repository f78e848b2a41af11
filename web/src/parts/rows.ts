import { isBranch, members, size } from './json'

/** One line of a JSON tree. */
export interface Row {
  readonly id: string
  readonly depth: number
  readonly label: string
  readonly value: unknown
  /** Whether it can be opened, and whether it is. */
  readonly open: boolean | null
}

/** Longer lists are shown in slices of this many, each a line that can be opened. */
export const SLICE = 100

/** The lines that are visible when these are open. Nothing is looked at below a closed line. */
export function rowsOf(value: unknown, open: ReadonlySet<string>): Row[] {
  const rows: Row[] = []
  if (isBranch(value)) inside(value, '', 0, open, rows)
  else rows.push({ id: '', depth: 0, label: '', value, open: null })
  return rows
}

function inside(
  value: object,
  id: string,
  depth: number,
  open: ReadonlySet<string>,
  rows: Row[],
): void {
  const count = size(value)
  if (count <= SLICE) {
    for (const [key, member] of members(value)) one(key, member, `${id}/${key}`, depth, open, rows)
    return
  }
  const all = members(value)
  for (let start = 0; start < count; start += SLICE) {
    const end = Math.min(count, start + SLICE)
    const sliceId = `${id}/[${start}]`
    const isOpen = open.has(sliceId)
    const label = `${all[start]?.[0]} … ${all[end - 1]?.[0]}`
    rows.push({ id: sliceId, depth, label, value: undefined, open: isOpen })
    if (!isOpen) continue
    for (const [key, member] of all.slice(start, end)) {
      one(key, member, `${id}/${key}`, depth + 1, open, rows)
    }
  }
}

function one(
  label: string,
  value: unknown,
  id: string,
  depth: number,
  open: ReadonlySet<string>,
  rows: Row[],
): void {
  const opens = isBranch(value) && size(value) > 0
  const isOpen = opens ? open.has(id) : null
  rows.push({ id, depth, label, value, open: isOpen })
  if (isOpen) inside(value as object, id, depth + 1, open, rows)
}
