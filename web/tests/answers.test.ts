import { expect, describe as group, it, vi } from 'vitest'
import { answersOf } from '../src/board/answers'
import type { SerializedEvent } from '../src/server/types'
import { signed } from '../src/server/useAnswer'
import { eventsOf } from './events'

function event(name: string, payload: Record<string, unknown> = {}): SerializedEvent {
  return eventsOf([name, payload])[0] as SerializedEvent
}

group('what became of the answers', () => {
  const accepted = event('input:accepted', {
    id: 'q',
    response: { approved: false },
    by: 'admin',
    as: 'dana',
    via: 'board',
  })
  const received = event('input:received', {
    id: 'q',
    value: { approved: false },
    approved: false,
    outcome: 'completed',
    by: 'admin',
    as: 'dana',
    via: 'board',
    receipt: 'delivered',
  })
  const lost = event('input:cancelled', { id: 'q', reason: 'gone', by: 'admin', receipt: 'lost' })
  const corrected = event('input:corrected', {
    id: 'q',
    status: 'completed',
    response: { approved: true },
    source: 'transcript',
    via: 'terminal',
    receipt: 'overruled',
    by: 'admin',
  })

  it('closes a question when its answer is accepted, before it is delivered', () => {
    const known = answersOf([accepted]).get('q')
    expect(known).toEqual({
      status: 'pending',
      response: null,
      accepted: { approved: false },
      receipt: 'pending',
      answeredBy: 'admin',
      answeredAs: 'dana',
      via: 'board',
    })
  })

  it('says what became of it', () => {
    expect(answersOf([accepted, received]).get('q')).toMatchObject({
      status: 'completed',
      response: { approved: false },
      accepted: { approved: false },
      receipt: 'delivered',
    })
    expect(answersOf([accepted, lost]).get('q')).toMatchObject({
      status: 'cancelled',
      response: null,
      receipt: 'lost',
    })
  })

  it('lets a correction win, wherever it comes among the others', () => {
    for (const order of permutations([accepted, received, lost, corrected])) {
      if (order.indexOf(accepted) > order.indexOf(received)) continue
      const known = answersOf(order).get('q')
      expect(known).toMatchObject({
        status: 'completed',
        response: { approved: true },
        receipt: 'overruled',
        via: 'terminal',
      })
      if (order.indexOf(accepted) < order.indexOf(corrected)) {
        expect(known?.accepted).toEqual({ approved: false })
      }
    }
    const again = event('input:corrected', { id: 'q', status: 'cancelled', response: null })
    expect(answersOf([corrected, received, again]).get('q')?.status).toBe('cancelled')
  })

  it('has nothing between a workflow and its answer', () => {
    const plain = event('input:received', { id: 'w', value: 'yes', approved: true, by: 'ann' })
    expect(answersOf([plain]).get('w')).toMatchObject({
      status: 'completed',
      response: { value: 'yes', approved: true },
      receipt: 'delivered',
      answeredAs: null,
    })
    const there = event('input:received', {
      id: 't',
      value: {},
      outcome: 'completed',
      via: 'terminal',
    })
    expect(answersOf([there]).get('t')?.receipt).toBeNull()
    expect(answersOf([event('input:requested', { id: 'x' }), event('stop')]).size).toBe(0)
  })
})

function permutations<T>(items: ReadonlyArray<T>): T[][] {
  if (items.length < 2) return [[...items]]
  return items.flatMap((one, at) =>
    permutations(items.filter((_, other) => other !== at)).map((rest) => [one, ...rest]),
  )
}

it('goes under the name that was given here', () => {
  const kept = new Map<string, string>()
  vi.stubGlobal('window', { localStorage: { getItem: (key: string) => kept.get(key) ?? null } })
  expect(signed({ approved: true })).toEqual({ approved: true })
  kept.set('callboard.name', 'grace')
  expect(signed({ approved: true })).toEqual({ approved: true, by: 'grace' })
  vi.unstubAllGlobals()
})
