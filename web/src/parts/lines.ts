import { blankLines, isBlank, isTold, omittedWords } from './excerpt'

/** Whether a line is in both texts, only in the new one, or only in the old one. */
export type Kind = 'kept' | 'added' | 'removed'

/** A line of one text, of another, or of both. */
export interface DiffLine {
  readonly kind: Kind
  readonly text: string
}

/** A line as it is shown, or what is said in place of several. */
export interface DiffRow extends DiffLine {
  readonly isNote: boolean
}

/** The lines as they are shown: blank ones in a row are told in words. */
export function diffRows(lines: ReadonlyArray<DiffLine>): DiffRow[] {
  const rows: DiffRow[] = []
  for (let at = 0; at < lines.length; ) {
    const { kind, text } = lines[at] as DiffLine
    const end = blankUntil(lines, at, kind)
    if (isTold(end - at)) {
      rows.push({ kind, text: blankLines(end - at), isNote: true })
      at = end
    } else {
      rows.push({ kind, text, isNote: false })
      at += 1
    }
  }
  return rows
}

function blankUntil(lines: ReadonlyArray<DiffLine>, from: number, kind: Kind): number {
  let at = from
  while (lines[at]?.kind === kind && isBlank(lines[at]?.text ?? '')) at += 1
  return at
}

const MOST_ROWS = 400
const KEPT_ROWS = 150

/** The first and the last rows, where there are too many to be drawn at once. */
export function omittedRows(rows: ReadonlyArray<DiffRow>) {
  if (rows.length <= MOST_ROWS) return { head: rows, omitted: null, tail: [] }
  const between = rows.slice(KEPT_ROWS, -KEPT_ROWS)
  const characters = between.reduce((sum, row) => sum + row.text.length, 0)
  const omitted = omittedWords({ lines: between.length, characters })
  return { head: rows.slice(0, KEPT_ROWS), omitted, tail: rows.slice(-KEPT_ROWS) }
}

/** More pairs of lines than this are not compared: then all of one is gone and all of other new. */
const MOST_PAIRS = 1_000_000

/** How one text becomes another, line by line. */
export function lineDifferences(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const head = sharedHead(old, now)
  const tail = sharedTail(old, now, head)
  const [gone, come] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)]
  return [
    ...kept(old.slice(0, head)),
    ...middle(gone, come),
    ...kept(tail > 0 ? old.slice(-tail) : []),
  ]
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function sharedHead(old: ReadonlyArray<string>, now: ReadonlyArray<string>): number {
  let count = 0
  while (count < old.length && count < now.length && old[count] === now[count]) count += 1
  return count
}

function sharedTail(old: ReadonlyArray<string>, now: ReadonlyArray<string>, head: number): number {
  const most = Math.min(old.length, now.length) - head
  let count = 0
  while (count < most && old[old.length - 1 - count] === now[now.length - 1 - count]) count += 1
  return count
}

const as = (kind: Kind) => (lines: ReadonlyArray<string>) => lines.map((text) => ({ kind, text }))
const kept = as('kept')
const removed = as('removed')
const added = as('added')

function middle(gone: ReadonlyArray<string>, come: ReadonlyArray<string>): DiffLine[] {
  if (gone.length * come.length > MOST_PAIRS) return [...removed(gone), ...added(come)]
  const lengths = longest(gone, come)
  const found: DiffLine[] = []
  let [left, right] = [0, 0]
  while (left < gone.length && right < come.length) {
    if (gone[left] === come[right]) {
      found.push({ kind: 'kept', text: gone[left] as string })
      left += 1
      right += 1
    } else if (at(lengths, left + 1, right) >= at(lengths, left, right + 1)) {
      found.push({ kind: 'removed', text: gone[left] as string })
      left += 1
    } else {
      found.push({ kind: 'added', text: come[right] as string })
      right += 1
    }
  }
  return [...found, ...removed(gone.slice(left)), ...added(come.slice(right))]
}

type Lengths = ReadonlyArray<Uint32Array>

function at(lengths: Lengths, left: number, right: number): number {
  return lengths[left]?.[right] ?? 0
}

/** How many lines the rests of both have in common, from each pair of places on. */
function longest(gone: ReadonlyArray<string>, come: ReadonlyArray<string>): Lengths {
  const lengths = Array.from({ length: gone.length + 1 }, () => new Uint32Array(come.length + 1))
  for (let left = gone.length - 1; left >= 0; left -= 1) {
    const row = lengths[left] as Uint32Array
    for (let right = come.length - 1; right >= 0; right -= 1) {
      row[right] =
        gone[left] === come[right]
          ? at(lengths, left + 1, right + 1) + 1
          : Math.max(at(lengths, left + 1, right), at(lengths, left, right + 1))
    }
  }
  return lengths
}
