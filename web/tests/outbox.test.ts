import { expect, it } from 'vitest'
import { canWait } from '../src/outbox/outbox'

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

it('lets an answer wait if there is time for it', () => {
  expect(canWait({ approved: true }, null)).toBe(true)
  expect(canWait({ approved: true }, inSeconds(60))).toBe(true)
  expect(canWait({ approved: true }, inSeconds(8))).toBe(false)
})

it('sends at once what a page that is left could not send', () => {
  expect(canWait({ value: 'x'.repeat(50_000) }, null)).toBe(true)
  expect(canWait({ value: 'é'.repeat(50_000) }, null)).toBe(false)
})
