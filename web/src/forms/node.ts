import { asSchema, flatten, listOf, type Schema } from './schema'

/** What is said of any field. */
export interface About {
  readonly title: string
  readonly hint: string
  /** Whether null fits: then what is left empty is null, if it has to be given at all. */
  readonly nullable: boolean
  /** What stands there at first; undefined for nothing. */
  readonly initial: unknown
}

export interface Option {
  readonly label: string
  readonly hint: string
  readonly value: unknown
}

export interface Member {
  readonly name: string
  readonly required: boolean
  readonly node: Node
}

/** A part of a form: what kind of field asks for what a schema describes. */
export type Node = About &
  (
    | {
        readonly kind: 'text'
        readonly input: 'text' | 'date' | 'time' | 'datetime-local' | 'email' | 'url'
        readonly isLong: boolean
        readonly least: number
        readonly most: number
      }
    | {
        readonly kind: 'number'
        readonly whole: boolean
        readonly least: number
        readonly most: number
        /** The same, where the end itself does not fit. */
        readonly above: number
        readonly below: number
      }
    | { readonly kind: 'flag' }
    | { readonly kind: 'choice'; readonly options: ReadonlyArray<Option> }
    | { readonly kind: 'picks'; readonly options: ReadonlyArray<Option>; readonly least: number }
    | { readonly kind: 'fixed'; readonly value: unknown }
    | { readonly kind: 'object'; readonly members: ReadonlyArray<Member> }
    | {
        readonly kind: 'list'
        readonly item: Node
        readonly least: number
        readonly most: number
      }
    | { readonly kind: 'variants'; readonly variants: ReadonlyArray<Node> }
    | { readonly kind: 'json' }
  )

export type NodeOf<K extends Node['kind']> = Extract<Node, { readonly kind: K }>

// Deeper than this no one finds their way in a form; and a schema may contain itself.
const DEEPEST = 5
const MOST_VARIANTS = 12

/** The form for a schema. What no field can ask for is asked for as JSON. */
export function nodeOf(given: unknown, root: Schema = asSchema(given), depth = 0): Node {
  const { schema, nullable, variants } = flatten(given, root)
  const about: About = {
    title: textOf(schema.title),
    hint: textOf(schema.description),
    nullable,
    initial: schema.default,
  }
  if (depth > DEEPEST) return { ...about, kind: 'json' }
  return (
    chosen(schema, variants, about, root) ??
    several(variants, about, root, depth) ??
    typed(schema, about, root, depth)
  )
}

/** One of several values that are all known. */
function chosen(
  schema: Schema,
  variants: ReadonlyArray<Schema>,
  about: About,
  root: Schema,
): Node | null {
  if ('const' in schema) return { ...about, kind: 'fixed', value: schema.const }
  const options = Array.isArray(schema.enum)
    ? schema.enum.map((value) => option(value))
    : variants.map((one) => constant(flatten(one, root).schema))
  const known = options.filter((one) => one !== null)
  if (known.length === 0 || known.length < options.length) return null
  const given = known.filter((one) => one.value !== null)
  const nullable = about.nullable || given.length < known.length
  return { ...about, nullable, kind: 'choice', options: given }
}

function constant(schema: Schema): Option | null {
  if (!('const' in schema)) return null
  return option(schema.const, textOf(schema.title), textOf(schema.description))
}

function option(value: unknown, label = '', hint = ''): Option {
  return {
    label: label || (typeof value === 'string' ? value : JSON.stringify(value)),
    hint,
    value,
  }
}

function several(
  variants: ReadonlyArray<Schema>,
  about: About,
  root: Schema,
  depth: number,
): Node | null {
  if (variants.length === 0) return null
  if (variants.length > MOST_VARIANTS) return { ...about, kind: 'json' }
  const nodes = variants.map((one) => nodeOf(one, root, depth + 1))
  const titles = new Set<string>()
  for (const [index, node] of nodes.entries()) {
    const isNew = node.title !== '' && !titles.has(node.title)
    const title = isNew ? node.title : `Form ${index + 1}`
    titles.add(title)
    nodes[index] = { ...node, title }
  }
  return { ...about, kind: 'variants', variants: nodes }
}

function typed(schema: Schema, about: About, root: Schema, depth: number): Node {
  switch (schema.type ?? (schema.properties ? 'object' : undefined)) {
    case 'string':
      return text(schema, about)
    case 'number':
    case 'integer':
      return number(schema, about)
    case 'boolean':
      return { ...about, kind: 'flag' }
    case 'object':
      return object(schema, about, root, depth)
    case 'array':
      return list(schema, about, root, depth)
    default:
      return { ...about, kind: 'json' }
  }
}

const INPUTS: Readonly<Record<string, NodeOf<'text'>['input']>> = {
  date: 'date',
  time: 'time',
  'date-time': 'datetime-local',
  email: 'email',
  uri: 'url',
  url: 'url',
}

const SHORT = 80

function text(schema: Schema, about: About): Node {
  const input = INPUTS[textOf(schema.format)] ?? 'text'
  const most = numberOf(schema.maxLength, Number.POSITIVE_INFINITY)
  const isPlain = input === 'text' && schema.format === undefined && schema.pattern === undefined
  const isLong = isPlain && most > SHORT
  return { ...about, kind: 'text', input, isLong, least: numberOf(schema.minLength, 0), most }
}

function number(schema: Schema, about: About): Node {
  const { minimum, maximum } = schema
  const isBetween = typeof minimum === 'number' && typeof maximum === 'number'
  return {
    ...about,
    hint: about.hint || (isBetween ? `From ${minimum} to ${maximum}.` : ''),
    kind: 'number',
    whole: schema.type === 'integer',
    least: numberOf(schema.minimum, Number.NEGATIVE_INFINITY),
    most: numberOf(schema.maximum, Number.POSITIVE_INFINITY),
    above: numberOf(schema.exclusiveMinimum, Number.NEGATIVE_INFINITY),
    below: numberOf(schema.exclusiveMaximum, Number.POSITIVE_INFINITY),
  }
}

function object(schema: Schema, about: About, root: Schema, depth: number): Node {
  const entries = Object.entries(asSchema(schema.properties))
  if (entries.length === 0) return { ...about, kind: 'json' }
  const required = new Set(listOf(schema.required))
  const members = entries.map(([name, member]) => ({
    name,
    required: required.has(name),
    node: nodeOf(member, root, depth + 1),
  }))
  return { ...about, kind: 'object', members }
}

function list(schema: Schema, about: About, root: Schema, depth: number): Node {
  if (schema.prefixItems !== undefined || schema.items === undefined) {
    return { ...about, kind: 'json' }
  }
  const item = nodeOf(schema.items, root, depth + 1)
  const least = numberOf(schema.minItems, 0)
  if (schema.uniqueItems === true && item.kind === 'choice') {
    return { ...about, kind: 'picks', options: item.options, least }
  }
  const most = numberOf(schema.maxItems, Number.POSITIVE_INFINITY)
  return { ...about, kind: 'list', item, least, most }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
