import { expect, test } from 'vitest'
import { differences, draftsOf, inputOf } from '../src/asks/edits'

const ASKED = { command: 'touch made', timeout: 5, wrong: 'odd', env: { A: '1' } }

test('drafts that nobody touched are the input itself', () => {
  const { input, wrong } = inputOf(ASKED, draftsOf(ASKED))
  expect({ input, wrong }).toEqual({ input: ASKED, wrong: null })
  expect(differences(ASKED, input)).toEqual([])
})

test('a text is taken as it is, and anything else as JSON', () => {
  const { input } = inputOf(ASKED, { ...draftsOf(ASKED), command: '5', timeout: '7' })
  expect(input).toEqual({ ...ASKED, command: '5', timeout: 7 })
  expect(differences(ASKED, input)).toEqual([
    { key: 'command', before: 'touch made', after: '5' },
    { key: 'timeout', before: '5', after: '7' },
  ])
})

test('what is not JSON is named, and changes nothing', () => {
  const { input, wrong } = inputOf(ASKED, { ...draftsOf(ASKED), env: '{' })
  expect({ input, wrong }).toEqual({ input: ASKED, wrong: 'env' })
})

test('members that were added or left out differ', () => {
  const found = differences({ a: 'x', b: 'y' }, { a: 'x', c: 'z' })
  expect(found.map(({ key }) => key)).toEqual(['b', 'c'])
})
