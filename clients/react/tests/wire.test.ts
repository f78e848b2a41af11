// @vitest-environment node
import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { toTypeScript } from '../scripts/wire.mjs'
import { eventNames, plateEventNames } from '../src/client/index'
import { TOKEN } from './serving'

it('has the types of the server that is here', async () => {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const answer = await fetch(`${inject('url')}/openapi.json`, { headers })
  const written = readFileSync(new URL('../src/client/wire.ts', import.meta.url), 'utf8')
  // If not: CALLBOARD_TOKEN=… npm run generate -- http://127.0.0.1:4100
  expect(written).toBe(toTypeScript(await answer.json()))
})

function namesIn(module: string, name: RegExp): string[] {
  const source = new URL(`../../../src/callboard/events/${module}.py`, import.meta.url)
  return [...readFileSync(source, 'utf8').matchAll(name)].map((match) => match[1] ?? '').sort()
}

it('knows the names that the server knows', () => {
  const names = namesIn('names', /: Final = "([a-z]+:[a-z]+)"/g)
  expect([...eventNames].sort()).toEqual(names)
})

it('knows what can happen to a plate', () => {
  const names = namesIn('plates', /: Final = "([a-z_]+)"/g)
  expect(names).toContain('permission_request')
  expect([...plateEventNames].sort()).toEqual(names)
})
