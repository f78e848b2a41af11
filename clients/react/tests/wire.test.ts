// @vitest-environment node
import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { toTypeScript } from '../scripts/wire.mjs'
import { eventNames } from '../src/client/index'
import { TOKEN } from './serving'

it('has the types of the server that is here', async () => {
  const headers = { Authorization: `Bearer ${TOKEN}` }
  const answer = await fetch(`${inject('url')}/openapi.json`, { headers })
  const written = readFileSync(new URL('../src/client/wire.ts', import.meta.url), 'utf8')
  // If not: CALLBOARD_TOKEN=… npm run generate -- http://127.0.0.1:4100
  expect(written).toBe(toTypeScript(await answer.json()))
})

it('knows the names that the server knows', () => {
  const source = new URL('../../../src/callboard/events/names.py', import.meta.url)
  const found = readFileSync(source, 'utf8').matchAll(/: Final = "([a-z]+:[a-z]+)"/g)
  expect([...eventNames].sort()).toEqual([...found].map((match) => match[1]).sort())
})
