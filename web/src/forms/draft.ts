import { isBranch } from '../parts/json'
import type { Node, NodeOf } from './node'

/**
 * What stands in a form while it is filled in, as data that can be kept. Numbers and JSON are what
 * was typed, a choice is the place of its option, and null is what no one has said yet.
 */
export type Draft =
  | null
  | string
  | number
  | boolean
  | ReadonlyArray<number>
  | Members
  | Items
  | Variant

/** An object; absent when it is left out as a whole. */
export interface Members {
  readonly isGiven: boolean
  readonly of: Readonly<Record<string, Draft>>
}

/** A list; each item has a key of its own, so that it stays itself when others go. */
export interface Items {
  readonly next: number
  readonly items: ReadonlyArray<{ readonly key: number; readonly of: Draft }>
}

/** One of several forms. */
export interface Variant {
  readonly at: number
  readonly of: Draft
}

/** The form as it stands at first. */
export function blank(node: Node, required = true): Draft {
  return draftOf(node, node.initial, required)
}

/** The form filled in with a value; what is undefined is left empty. */
export function draftOf(node: Node, value: unknown, required = true): Draft {
  switch (node.kind) {
    case 'text':
      return typeof value === 'string' ? shownAs(node, value) : ''
    case 'number':
      return typeof value === 'number' ? String(value) : ''
    case 'flag':
      return typeof value === 'boolean' ? value : null
    case 'choice':
      return placeOf(node.options, value)
    case 'picks':
      return Array.isArray(value) ? picked(node, value) : []
    case 'fixed':
      return null
    case 'object':
      return membersOf(node, value, required)
    case 'list':
      return itemsOf(node, value, required)
    case 'variants':
      return variantOf(node, value)
    case 'json':
      return value === undefined ? '' : JSON.stringify(value, null, 2)
  }
}

function placeOf(options: NodeOf<'choice'>['options'], value: unknown): number | null {
  const sought = JSON.stringify(value)
  const at = options.findIndex((one) => JSON.stringify(one.value) === sought)
  return at < 0 ? null : at
}

function picked(node: NodeOf<'picks'>, values: ReadonlyArray<unknown>): ReadonlyArray<number> {
  return values.map((one) => placeOf(node.options, one)).filter((at) => at !== null)
}

function membersOf(node: NodeOf<'object'>, value: unknown, required: boolean): Members {
  const given = (isBranch(value) ? value : {}) as Readonly<Record<string, unknown>>
  const of = Object.fromEntries(
    node.members.map(({ name, required: needed, node: member }) => [
      name,
      isBranch(value) ? draftOf(member, given[name], needed) : blank(member, needed),
    ]),
  )
  return { isGiven: (required && !node.nullable) || isBranch(value), of }
}

function itemsOf(node: NodeOf<'list'>, value: unknown, required: boolean): Items {
  const given = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : []
  const count = Math.max(given.length, required ? node.least : 0)
  const items = Array.from({ length: count }, (_, key) => ({
    key,
    of: key < given.length ? draftOf(node.item, given[key]) : blank(node.item),
  }))
  return { next: count, items }
}

function variantOf(node: NodeOf<'variants'>, value: unknown): Variant {
  const found = node.variants.findIndex((one) => value !== undefined && suits(one, value))
  const at = Math.max(0, found)
  const chosen = node.variants[at]
  if (!chosen) return { at, of: null }
  return { at, of: found < 0 ? blank(chosen) : draftOf(chosen, value) }
}

/** Whether a value could have come from this form; enough to choose between several. */
function suits(node: Node, value: unknown): boolean {
  switch (node.kind) {
    case 'text':
      return typeof value === 'string'
    case 'number':
      return typeof value === 'number'
    case 'flag':
      return typeof value === 'boolean'
    case 'choice':
      return placeOf(node.options, value) !== null
    case 'fixed':
      return JSON.stringify(node.value) === JSON.stringify(value)
    case 'list':
    case 'picks':
      return Array.isArray(value)
    case 'object':
      return isBranch(value) && !Array.isArray(value) && node.members.every(fitsIn(value))
    default:
      return true
  }
}

function fitsIn(value: object) {
  return ({ name, required, node }: NodeOf<'object'>['members'][number]) =>
    name in value ? suits(node, (value as Record<string, unknown>)[name]) : !required
}

/** A moment as the browser's own field writes it: in this place's time, and without saying so. */
function shownAs(node: NodeOf<'text'>, value: string): string {
  if (node.input !== 'datetime-local') return value
  const moment = new Date(value)
  if (Number.isNaN(moment.getTime())) return ''
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
