import { expect, describe as group, it } from 'vitest'
import { differences, MOST } from '../src/parts/differences'
import { rowsOf } from '../src/parts/rows'
import { ago, length } from '../src/parts/times'
import { editsBetween } from '../src/session/edits'
import { fieldsOf, inputOf, type Offer } from '../src/sessions/fields'

group('differences', () => {
  it('names each place once', () => {
    const found = differences({ a: 1, b: { c: [1, 2] }, d: 4 }, { a: 1, b: { c: [1, 3, 5] }, e: 6 })
    expect(found).toEqual([
      { kind: 'changed', path: '/b/c/1', before: 2, after: 3 },
      { kind: 'added', path: '/b/c/2', after: 5 },
      { kind: 'removed', path: '/d', before: 4 },
      { kind: 'added', path: '/e', after: 6 },
    ])
  })

  it('escapes what a pointer needs escaped', () => {
    expect(differences({ 'a/b~c': 1 }, { 'a/b~c': 2 })[0]?.path).toBe('/a~1b~0c')
  })

  it('stops where nobody reads on', () => {
    const many = Array.from({ length: 5000 }, (_, index) => index)
    expect(
      differences(
        many,
        many.map((one) => one + 1),
      ),
    ).toHaveLength(MOST)
  })
})

group('edits', () => {
  it('remove from the end, so that places stay true', () => {
    const edits = editsBetween({ plan: ['a', 'b', 'c'] }, { plan: ['x'] })
    expect(edits).toEqual([
      { op: 'replace', path: '/plan/0', value: 'x' },
      { op: 'remove', path: '/plan/2' },
      { op: 'remove', path: '/plan/1' },
    ])
  })

  it('are never cut short: a half-made edit would be another state', () => {
    const many = Array.from({ length: MOST * 2 }, (_, index) => index)
    expect(
      editsBetween(
        many,
        many.map((one) => one + 1),
      ),
    ).toHaveLength(MOST * 2)
  })
})

group('the rows of a tree', () => {
  it('look at nothing below a closed line', () => {
    const trap = Object.defineProperty({}, 'inside', {
      enumerable: true,
      get: () => {
        throw new Error('looked')
      },
    })
    expect(rowsOf({ trap }, new Set()).map((row) => row.label)).toEqual(['trap'])
  })

  it('slice what is long', () => {
    const rows = rowsOf({ list: Array.from({ length: 250 }, () => 0) }, new Set(['/list']))
    expect(rows.map((row) => row.label)).toEqual(['list', '0 … 99', '100 … 199', '200 … 249'])
  })
})

group('the form', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer', default: 3 },
      tags: { type: 'array' },
    },
    required: ['city', 'days'],
  }

  it('asks for each member, and gives an object', () => {
    const fields = fieldsOf({ inputSchema: schema })
    expect(fields.map(({ label, kind, required }) => [label, kind, required])).toEqual([
      ['city', 'text', true],
      ['days', 'integer', false],
      ['tags', 'json', false],
    ])
    expect(inputOf(fields, { city: 'Oslo', days: '4', tags: '["a"]' })).toEqual({
      city: 'Oslo',
      days: 4,
      tags: ['a'],
    })
  })

  it('asks once for what is one value', () => {
    const fields = fieldsOf({ inputSchema: { type: 'string' } })
    expect(fields).toMatchObject([{ label: 'Input', kind: 'text' }])
    expect(inputOf(fields, { '': 'Oslo' })).toBe('Oslo')
  })

  it('says what one value is, as far as the workflow does', () => {
    const said = {
      title: 'Customer and amount',
      description: 'Separated by a comma.',
      examples: ['Lindqvist, 480'],
    }
    const told = (offer: Offer) => fieldsOf(offer).map((one) => [one.label, one.hint, one.example])
    const inputSchema = { type: 'string', ...said }
    expect(told({ inputSchema, inputName: 'given' })).toEqual([Object.values(said).flat()])
    const about = { inputName: 'due_date', inputAbout: 'When it is due.' }
    expect(told({ inputSchema: { type: 'integer' }, ...about })).toEqual([
      ['Input: due date', 'When it is due.', '3'],
    ])
    expect(told({ inputSchema: null, inputName: 'given' })).toEqual([
      ['Input', 'The workflow doesn’t say what it takes, so it gets this as text.', 'Any text'],
    ])
    expect(told({ inputSchema: null, inputName: null })).toEqual([])
  })

  it('takes text that may be left out as text', () => {
    const anyOf = [{ type: 'string' }, { type: 'null' }]
    const fields = fieldsOf({ inputSchema: { anyOf } })
    expect(fields).toMatchObject([{ kind: 'text', required: false }])
    expect(inputOf(fields, { '': 'Oslo' })).toBe('Oslo')
    expect(inputOf(fields, {})).toBeUndefined()
  })

  it('names the field that is wrong', () => {
    expect(() => inputOf(fieldsOf({ inputSchema: schema }), { city: 'Oslo', days: '1.5' })).toThrow(
      'days',
    )
    expect(() => inputOf(fieldsOf({ inputSchema: schema }), { city: 'Oslo', tags: '[' })).toThrow(
      'tags',
    )
  })
})

group('times', () => {
  it('are told in few words', () => {
    expect([340, 9_400, 65_000, 7_500_000, 3 * 86_400_000].map(length)).toEqual([
      '340 ms',
      '9.4 s',
      '1 min',
      '2 h 5 min',
      '3 d',
    ])
    expect(ago(0, 60_000)).toBe('1 min ago')
    expect(ago(60_000, 0)).toBe('in 1 min')
  })
})
