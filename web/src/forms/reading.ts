import { escapeStep } from '../parts/json'
import type { Draft, Items, Members, Variant } from './draft'
import type { Node, NodeOf } from './node'
import { text as words } from './text'

/** Something that is wrong with a form, and where: a JSON Pointer. */
export interface Fault {
  readonly at: string
  readonly message: string
}

/** What a form says; undefined is left out. */
export interface Reading {
  readonly value: unknown
  readonly faults: ReadonlyArray<Fault>
}

const fine = (value: unknown): Reading => ({ value, faults: [] })
const wrong = (at: string, message: string): Reading => ({
  value: undefined,
  faults: [{ at, message }],
})

/** What a filled form means, and what is wrong with it. */
export function read(node: Node, draft: Draft, required = true, at = ''): Reading {
  const found = readKind(node, draft, at)
  if (found.value !== undefined || found.faults.length > 0 || !required) return found
  if (node.nullable) return fine(null)
  if (node.kind === 'list' || node.kind === 'picks') {
    return node.least === 0 ? fine([]) : wrong(at, words.atLeastItems(node.least))
  }
  return wrong(at, MISSING[node.kind] ?? words.missing)
}

const MISSING: Partial<Record<Node['kind'], string>> = {
  flag: words.missingFlag,
  choice: words.missingChoice,
}

function readKind(node: Node, draft: Draft, at: string): Reading {
  switch (node.kind) {
    case 'text':
      return readText(node, draft as string, at)
    case 'number':
      return readNumber(node, draft as string, at)
    case 'flag':
      return fine(draft ?? undefined)
    case 'choice':
      return fine(draft === null ? undefined : node.options[draft as number]?.value)
    case 'picks':
      return readPicks(node, draft as ReadonlyArray<number>, at)
    case 'fixed':
      return fine(node.value)
    case 'object':
      return readObject(node, draft as Members, at)
    case 'list':
      return readList(node, draft as Items, at)
    case 'variants':
      return readVariant(node, draft as Variant, at)
    case 'json':
      return readJson(draft as string, at)
  }
}

function readText(node: NodeOf<'text'>, text: string, at: string): Reading {
  if (text === '') return fine(undefined)
  const count = [...text].length
  if (count < node.least) return wrong(at, words.tooShort(node.least))
  if (count > node.most) return wrong(at, words.tooLong(node.most, count))
  if (node.input === 'datetime-local') return fine(new Date(text).toISOString())
  return fine(text)
}

function readNumber(node: NodeOf<'number'>, text: string, at: string): Reading {
  if (text.trim() === '') return fine(undefined)
  const value = Number(text.trim().replace(',', '.'))
  if (!Number.isFinite(value) || (node.whole && !Number.isInteger(value))) {
    return wrong(at, node.whole ? words.wholeNumber : words.number)
  }
  const tooFar = farOff(node, value)
  return tooFar ? wrong(at, tooFar) : fine(value)
}

function farOff({ least, most, above, below }: NodeOf<'number'>, value: number): string | null {
  if (value < least) return words.atLeast(least)
  if (value > most) return words.atMost(most)
  if (value <= above) return words.above(above)
  return value >= below ? words.below(below) : null
}

function readPicks(node: NodeOf<'picks'>, picked: ReadonlyArray<number>, at: string): Reading {
  if (picked.length === 0) return fine(undefined)
  if (picked.length < node.least) return wrong(at, words.atLeastItems(node.least))
  const inOrder = [...picked].sort((one, other) => one - other)
  return fine(inOrder.map((place) => node.options[place]?.value))
}

function readObject(node: NodeOf<'object'>, draft: Members, at: string): Reading {
  if (!draft.isGiven) return fine(undefined)
  const faults: Fault[] = []
  const value: Record<string, unknown> = {}
  for (const { name, required, node: member } of node.members) {
    const place = `${at}/${escapeStep(name)}`
    const found = read(member, draft.of[name] ?? null, required, place)
    faults.push(...found.faults)
    if (found.value !== undefined) value[name] = found.value
  }
  return { value, faults }
}

function readList(node: NodeOf<'list'>, { items }: Items, at: string): Reading {
  if (items.length === 0) return fine(undefined)
  if (items.length < node.least) return wrong(at, words.atLeastItems(node.least))
  if (items.length > node.most) return wrong(at, words.atMostItems(node.most))
  const found = items.map(({ of }, index) => read(node.item, of, true, `${at}/${index}`))
  return { value: found.map((one) => one.value), faults: found.flatMap((one) => one.faults) }
}

function readVariant(node: NodeOf<'variants'>, draft: Variant, at: string): Reading {
  const chosen = node.variants[draft.at]
  return chosen ? read(chosen, draft.of, true, at) : fine(undefined)
}

/** What JSON says; nothing when nothing is written. */
export function readJson(text: string, at = ''): Reading {
  if (text.trim() === '') return fine(undefined)
  try {
    return fine(JSON.parse(text) as unknown)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return wrong(at, words.notJson(why))
  }
}
