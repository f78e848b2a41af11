import { flatten, type Schema } from '../forms/schema'
import type { Workflow } from '../server/types'
import { text } from './text'

/** A field of the form that starts a session. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'integer' | 'boolean' | 'json'
  readonly options: ReadonlyArray<string> | null
  readonly required: boolean
  readonly hint: string | null
  /** A value that fits. */
  readonly example: string | null
  readonly initial: string
}

/** What a workflow says about its input. */
export type Offer = Partial<Pick<Workflow, 'inputSchema' | 'inputName' | 'inputAbout'>>

/** What is asked for when an input is one value and not several. */
const ONLY = ''

/**
 * The fields for an input. An object has a field for each of its members; anything else is one
 * field; and what a form cannot ask for is asked for as JSON.
 */
export function fieldsOf(offer: Offer): Field[] {
  const schema: Schema | null = offer.inputSchema ?? null
  if (schema === null) return offer.inputName === null ? [] : [only(offer, {}, false)]
  const properties = schema.properties as Record<string, Schema> | undefined
  if (schema.type !== 'object' || !properties) {
    const { schema: value, nullable } = flatten(schema, schema)
    return [only(offer, value, !nullable)]
  }
  const required = new Set(schema.required as ReadonlyArray<string> | undefined)
  return Object.entries(properties).map(([name, member]) => field(name, member, required.has(name)))
}

/** Names that say no more than that it is an input. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['input', 'given', 'value', 'data', 'arg', '_'])

/** An input that is one value: it has no members whose names would say what it is. */
function only({ inputName, inputAbout }: Offer, schema: Schema, required: boolean): Field {
  const plain = field(ONLY, schema, required)
  const isDeclared = Object.keys(schema).length > 0
  const named = inputName && !SAYS_NOTHING.has(inputName) ? text.field.named(inputName) : null
  return {
    ...plain,
    label: textOf(schema.title) ?? named ?? text.field.input,
    hint:
      textOf(schema.description) ??
      inputAbout ??
      text.field.hints[isDeclared ? plain.kind : 'undeclared'],
    example: plain.example ?? (plain.kind === 'text' ? text.field.anyText : null),
  }
}

function field(name: string, schema: Schema, required: boolean): Field {
  const options = schema.enum as ReadonlyArray<unknown> | undefined
  const initial = schema.default
  return {
    name,
    label: textOf(schema.title) ?? name,
    kind: kindOf(schema),
    options: options?.every((one) => typeof one === 'string') ? (options as string[]) : null,
    required: required && initial === undefined,
    hint: textOf(schema.description) ?? (kindOf(schema) === 'json' ? text.start.json : null),
    example: exampleOf(schema),
    initial: initial === undefined || initial === null ? '' : asText(initial),
  }
}

function textOf(said: unknown): string | null {
  return typeof said === 'string' ? said : null
}

/** An example of the author's, or a value of the right kind; null where any text fits. */
function exampleOf(schema: Schema): string | null {
  const given = (schema.examples as ReadonlyArray<unknown> | undefined)?.[0]
  if (given !== undefined) return asText(given)
  return text.field.examples[schema.type as keyof typeof text.field.examples] ?? null
}

const KINDS = { string: 'text', number: 'number', integer: 'integer', boolean: 'boolean' } as const

function kindOf(schema: Schema): Field['kind'] {
  const known = KINDS[schema.type as keyof typeof KINDS]
  if (known) return known
  // A workflow that does not say what it takes is given text, or JSON if that is what is written.
  return Object.keys(schema).length === 0 ? 'text' : 'json'
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The input that a filled form means; raises an error that names the field. */
export function inputOf(
  fields: ReadonlyArray<Field>,
  values: Readonly<Record<string, string>>,
): unknown {
  const [first] = fields
  if (fields.length === 1 && first?.name === ONLY) return meantBy(first, values[ONLY] ?? '')
  const input: Record<string, unknown> = {}
  for (const one of fields) {
    const value = meantBy(one, values[one.name] ?? '')
    if (value !== undefined) input[one.name] = value
  }
  return input
}

function meantBy({ kind, label, required }: Field, written: string): unknown {
  if (written.trim() === '') {
    if (required && kind !== 'text') throw new Error(text.field.missing(label))
    return required ? '' : undefined
  }
  switch (kind) {
    case 'text':
      return written
    case 'boolean':
      return written === 'true'
    case 'number':
    case 'integer':
      return numberOf(label, written, kind === 'integer')
    case 'json':
      try {
        return JSON.parse(written) as unknown
      } catch {
        throw new Error(text.field.json(label))
      }
  }
}

function numberOf(label: string, written: string, whole: boolean): number {
  const value = Number(written)
  if (!Number.isFinite(value) || (whole && !Number.isInteger(value))) {
    throw new Error(text.field.number(label, whole))
  }
  return value
}
