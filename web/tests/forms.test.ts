import { expect, describe as group, it } from 'vitest'
import { blank, draftOf, type Items, type Members, type Variant } from '../src/forms/draft'
import { type Node, nodeOf } from '../src/forms/node'
import { read } from '../src/forms/reading'

/** What kinds of fields a schema gives: an object by its members, a list by its item. */
function kinds(node: Node): unknown {
  if (node.kind === 'object') {
    return Object.fromEntries(node.members.map((one) => [one.name, kinds(one.node)]))
  }
  if (node.kind === 'list') return [kinds(node.item)]
  if (node.kind === 'variants') return { oneOf: node.variants.map(kinds) }
  return node.nullable ? `${node.kind}?` : node.kind
}

/** A form that is filled with a value says that value again. */
function again(schema: unknown, value: unknown): unknown {
  const node = nodeOf(schema)
  const { value: said, faults } = read(
    node,
    value === undefined ? blank(node) : draftOf(node, value),
  )
  expect(faults).toEqual([])
  return said
}

// As pydantic writes a model: references, optional members, enums, nested models.
const REVIEW = {
  $defs: {
    Risk: { enum: ['low', 'high'], title: 'Risk', type: 'string' },
    Finding: {
      type: 'object',
      title: 'Finding',
      properties: {
        title: { type: 'string', maxLength: 60 },
        risk: { $ref: '#/$defs/Risk' },
        line: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }], default: null },
      },
      required: ['title', 'risk'],
    },
  },
  type: 'object',
  title: 'Review',
  properties: {
    approved: { type: 'boolean', description: 'Whether it may go out.' },
    risk: { allOf: [{ $ref: '#/$defs/Risk' }], default: 'low' },
    score: { type: 'number', exclusiveMinimum: 0, maximum: 10 },
    due: { type: 'string', format: 'date' },
    worst: { $ref: '#/$defs/Finding' },
    findings: { type: 'array', items: { $ref: '#/$defs/Finding' } },
    tags: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b', 'c'] } },
    version: { const: 2 },
    extra: { type: 'object', additionalProperties: { type: 'integer' } },
  },
  required: ['approved', 'findings'],
}

group('a form', () => {
  it('has a field for every kind of value', () => {
    const finding = { title: 'text', risk: 'choice', line: 'number?' }
    expect(kinds(nodeOf(REVIEW))).toEqual({
      approved: 'flag',
      risk: 'choice',
      score: 'number',
      due: 'text',
      worst: finding,
      findings: [finding],
      tags: 'picks',
      version: 'fixed',
      extra: 'json',
    })
  })

  it('knows titles, hints, inputs and what stands there at first', () => {
    const node = nodeOf(REVIEW)
    if (node.kind !== 'object') throw new Error(node.kind)
    const [approved, risk, , due] = node.members.map((one) => one.node)
    expect(approved?.hint).toBe('Whether it may go out.')
    expect(risk).toMatchObject({ title: 'Risk', initial: 'low' })
    expect(due).toMatchObject({ input: 'date', isLong: false })
    expect(blank(node)).toMatchObject({ of: { approved: null, risk: 0, score: '' } })
  })

  it('says again what it was filled with', () => {
    const whole = {
      approved: false,
      risk: 'high',
      score: 7.5,
      due: '2026-02-01',
      worst: { title: 'A token in the log', risk: 'high', line: 12 },
      findings: [{ title: 'A', risk: 'low' }],
      tags: ['a', 'c'],
      version: 2,
      extra: { a: 1 },
    }
    expect(again(REVIEW, whole)).toEqual(whole)
    expect(again({ type: 'string' }, 'text')).toBe('text')
    expect(again({ type: ['integer', 'null'] }, null)).toBeNull()
    expect(again({ enum: [1, 'one', false] }, false)).toBe(false)
  })

  it('leaves out what is optional and empty, and names what is missing', () => {
    const node = nodeOf(REVIEW)
    const { faults } = read(node, blank(node))
    expect(faults).toEqual([{ at: '/approved', message: 'Say yes or no.' }])
    const said = read(node, draftOf(node, { approved: true, findings: [] }))
    expect(said).toEqual({
      value: { approved: true, findings: [], version: 2 },
      faults: [],
    })
  })

  it('says null where that is what an empty field means', () => {
    const schema = {
      type: 'object',
      properties: { why: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      required: ['why'],
    }
    expect(again(schema, undefined)).toEqual({ why: null })
  })

  it('never takes a decision for a person', () => {
    const node = nodeOf({ type: 'boolean' })
    expect(blank(node)).toBeNull()
    expect(read(node, null).faults).toHaveLength(1)
    expect(read(nodeOf({ enum: ['go'] }), null).faults).toHaveLength(1)
  })

  it('says where a number or a text does not fit', () => {
    const told = (schema: object, draft: string) => read(nodeOf(schema), draft).faults[0]?.message
    expect(told({ type: 'integer' }, '1.5')).toBe('Write a whole number.')
    expect(told({ type: 'number' }, 'many')).toBe('Write a number.')
    expect(told({ type: 'number', exclusiveMinimum: 0 }, '0')).toBe('More than 0.')
    expect(told({ type: 'number', exclusiveMaximum: 1 }, '1')).toBe('Less than 1.')
    expect(told({ type: 'number', maximum: 10 }, '11')).toBe('At most 10.')
    expect(told({ type: 'integer', minimum: 2 }, '1')).toBe('At least 2.')
    expect(told({ type: 'string', minLength: 3 }, 'ab')).toContain('at least 3')
    expect(told({ type: 'string', maxLength: 1 }, '👍🏽x')).toContain('at most 1')
    expect(told({}, '{"a": }')).toContain('not valid JSON')
    expect(read(nodeOf({ type: 'number' }), '1,5').value).toBe(1.5)
  })

  it('points to what is wrong deep inside', () => {
    const node = nodeOf(REVIEW)
    const given = { approved: true, findings: [{ title: 'x', risk: 'low' }, { risk: 'low' }] }
    expect(read(node, draftOf(node, given)).faults).toEqual([
      { at: '/findings/1/title', message: 'Fill this in.' },
    ])
    const odd = nodeOf({
      type: 'object',
      properties: { 'a/b': { type: 'string' } },
      required: ['a/b'],
    })
    expect(read(odd, blank(odd)).faults[0]?.at).toBe('/a~1b')
  })

  it('has as many items as there have to be, and no more than there may be', () => {
    const node = nodeOf({ type: 'array', items: { type: 'string' }, minItems: 2, maxItems: 2 })
    const draft = blank(node) as Items
    expect(draft.items).toHaveLength(2)
    expect(read(node, draft).faults.map((one) => one.at)).toEqual(['/0', '/1'])
    expect(read(node, { ...draft, items: [] }).faults).toHaveLength(1)
    const three = draftOf(node, ['a', 'b', 'c'])
    expect(read(node, three).faults).toHaveLength(1)
  })

  it('leaves an object out as a whole, or asks for all that it needs', () => {
    const node = nodeOf({
      type: 'object',
      properties: {
        owner: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      },
    })
    const draft = blank(node) as Members
    expect(read(node, draft).value).toEqual({})
    const given = { ...draft, of: { owner: { ...(draft.of.owner as Members), isGiven: true } } }
    expect(read(node, given).faults[0]?.at).toBe('/owner/name')
  })

  it('offers forms where several fit, and finds the one that a value has', () => {
    const schema = {
      oneOf: [
        { title: 'Go', type: 'object', properties: { kind: { const: 'go' } }, required: ['kind'] },
        {
          title: 'Wait',
          type: 'object',
          properties: { kind: { const: 'wait' }, days: { type: 'integer' } },
          required: ['kind', 'days'],
        },
      ],
    }
    expect(kinds(nodeOf(schema))).toEqual({
      oneOf: [{ kind: 'fixed' }, { kind: 'fixed', days: 'number' }],
    })
    expect((draftOf(nodeOf(schema), { kind: 'wait', days: 2 }) as Variant).at).toBe(1)
    expect(again(schema, { kind: 'wait', days: 2 })).toEqual({ kind: 'wait', days: 2 })
    expect(again(schema, undefined)).toEqual({ kind: 'go' })
  })

  it('calls constants by their titles', () => {
    const node = nodeOf({ oneOf: [{ const: 1, title: 'One' }, { const: null }, { const: 'two' }] })
    expect(node).toMatchObject({ kind: 'choice', nullable: true })
    expect(node.kind === 'choice' && node.options.map((one) => one.label)).toEqual(['One', 'two'])
  })

  it('asks for JSON where no field would do', () => {
    for (const odd of [true, {}, null, { type: ['string', 'integer'] }, { type: 'object' }]) {
      expect(nodeOf(odd).kind).toBe('json')
    }
    expect(nodeOf({ type: 'array', prefixItems: [{ type: 'string' }] }).kind).toBe('json')
    expect(nodeOf({ $ref: 'https://example.org/schema' }).kind).toBe('json')
  })

  it('comes to an end with a schema that contains itself', () => {
    const tree = {
      type: 'object',
      properties: { name: { type: 'string' }, parts: { type: 'array', items: { $ref: '#' } } },
      required: ['name'],
    }
    const value = { name: 'a', parts: [{ name: 'b', parts: [{ name: 'c' }] }] }
    expect(again(tree, value)).toEqual({
      name: 'a',
      parts: [{ name: 'b', parts: [{ name: 'c' }] }],
    })
    expect(nodeOf({ $ref: '#' }).kind).toBe('json')
    const round = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }
    expect(nodeOf({ ...round, $ref: '#/$defs/a' }).kind).toBe('json')
  })

  it('sends moments with their place in time, and shows them in the time of this place', () => {
    const node = nodeOf({ type: 'string', format: 'date-time' })
    const draft = draftOf(node, '2026-02-01T10:30:00Z')
    expect(draft).toMatch(/^2026-02-0[12]T\d\d:\d\d$/)
    expect(read(node, draft).value).toBe('2026-02-01T10:30:00.000Z')
  })
})
