/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>

/** What a schema comes down to: one form without references, and whether null fits too. */
export interface Flat {
  readonly schema: Schema
  readonly nullable: boolean
  /** Several forms, of which one fits; empty when there is only the one. */
  readonly variants: ReadonlyArray<Schema>
}

const MOST_STEPS = 30

/** An object as a schema; anything else, such as `true`, says nothing. */
export function asSchema(value: unknown): Schema {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Schema) : {}
}

/** Follow references and put together what belongs together. A circle ends as "anything". */
export function flatten(given: unknown, root: Schema): Flat {
  let schema = asSchema(given)
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const next = stepped(schema, root)
    if (next === null) return told(schema)
    schema = next
  }
  return { schema: {}, nullable: false, variants: [] }
}

/** The schema with one reference or one `allOf` resolved; null when it can't be resolved. */
function stepped(schema: Schema, root: Schema): Schema | null {
  if (typeof schema.$ref === 'string') {
    const { $ref, ...beside } = schema
    return joined(pointed(root, schema.$ref), beside)
  }
  if (Array.isArray(schema.allOf)) {
    const { allOf, ...beside } = schema
    return schema.allOf.reduce<Schema>((sum, one) => {
      const { schema: part } = flatten(one, root)
      return joined(sum, part)
    }, beside)
  }
  const several = alternatives(schema)
  const others = several.filter((one) => !isNull(flatten(one, root).schema))
  if (several.length > 0 && others.length === 1) {
    const { anyOf, oneOf, ...beside } = schema
    const only = joined(asSchema(others[0]), beside)
    return several.length > 1 ? { ...only, nullable: true } : only
  }
  return null
}

function told(schema: Schema): Flat {
  const { nullable, ...rest } = schema
  const types = Array.isArray(schema.type) ? (schema.type as ReadonlyArray<unknown>) : null
  const several = alternatives(schema)
  const variants = several.filter((one) => !isNull(asSchema(one))).map(asSchema)
  const fitsNull =
    nullable === true || several.length > variants.length || !!types?.includes('null')
  if (!types) return { schema: rest, nullable: fitsNull, variants }
  const others = types.filter((type) => type !== 'null')
  const type = others.length === 1 ? others[0] : others
  return { schema: { ...rest, type }, nullable: fitsNull, variants }
}

function alternatives(schema: Schema): ReadonlyArray<unknown> {
  const { anyOf, oneOf } = schema
  if (Array.isArray(anyOf)) return anyOf
  return Array.isArray(oneOf) ? oneOf : []
}

function isNull(schema: Schema): boolean {
  return schema.type === 'null' || ('const' in schema && schema.const === null)
}

/** Both at once; what the second says of itself counts. */
function joined(one: Schema, other: Schema): Schema {
  const properties = { ...asSchema(one.properties), ...asSchema(other.properties) }
  const required = [...listOf(one.required), ...listOf(other.required)]
  return {
    ...one,
    ...other,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  }
}

/** What stands at a reference within the schema itself: `#/$defs/Risk`. */
function pointed(root: Schema, reference: string): Schema {
  if (!reference.startsWith('#')) return {}
  const steps = decodeURIComponent(reference.slice(1)).split('/').slice(1)
  let found: unknown = root
  for (const step of steps) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = asSchema(found)[key] ?? (Array.isArray(found) ? found[Number(key)] : undefined)
  }
  return asSchema(found)
}

export function listOf(value: unknown): ReadonlyArray<unknown> {
  return Array.isArray(value) ? value : []
}
