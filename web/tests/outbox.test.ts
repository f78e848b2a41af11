import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { canWait, hold, UNDO_MS, undo } from '../src/outbox/outbox'

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('window', globalThis)
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

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

it('counts what waits already', () => {
  const given = { value: 'x'.repeat(50_000) }
  hold({ id: 'a', title: '', route: 'answer', given, send: async () => {} })
  expect(canWait({ value: 'x'.repeat(20_000) }, null)).toBe(false)
  expect(canWait({ approved: true }, null)).toBe(true)
  undo({ id: 'a', batch: null })
  expect(canWait({ value: 'x'.repeat(20_000) }, null)).toBe(true)
})

it('gives a new answer to the same question all its time', () => {
  const sent: string[] = []
  const answer = (value: string) =>
    hold({ id: 'a', title: '', route: 'answer', given: {}, send: async () => sent.push(value) })
  answer('yes')
  vi.advanceTimersByTime(UNDO_MS - 1000)
  answer('no')
  vi.advanceTimersByTime(UNDO_MS - 1000)
  expect(sent).toEqual([])
  vi.advanceTimersByTime(1000)
  expect(sent).toEqual(['no'])
})
