import { describe, expect, it } from 'vitest'
import {
  answersOf,
  isOpen,
  mergeDeltas,
  type SerializedEvent,
  summarise,
  textOf,
} from '../src/client/index'

let position = 0
function event(name: string, payload: Record<string, unknown> = {}): SerializedEvent {
  position += 1
  return {
    id: `e${position}`,
    sessionId: 's',
    position,
    name,
    _tag: name,
    version: 1,
    payload,
    timestamp: '2026-01-31T12:00:00.000Z',
    causedBy: null,
  }
}

const said = (run: string, delta: string, attempt = 1) =>
  event('text:delta', { agent: 'a', run, attempt, delta })

describe('summarise', () => {
  it('runs again after every pause and resume', () => {
    const names = ['started', 'paused', 'resumed', 'paused', 'resumed'].map((n) => `workflow:${n}`)
    const statuses = names.map(
      (_, at) => summarise(names.slice(0, at + 1).map((n) => event(n))).status,
    )
    expect(statuses).toEqual(['running', 'paused', 'running', 'paused', 'running'])
  })

  it('says the same in one go and batch by batch', () => {
    const events = [
      event('workflow:started'),
      event('input:requested', { id: 'q', prompt: 'Go?', type: 'approval' }),
      event('state:intent'),
      event('input:requested', { id: 'p', prompt: 'May I?', type: 'permission' }),
      event('something:new', { of: 'a newer server' }),
    ]
    let before: SerializedEvent[] = []
    for (const one of events) {
      const next = [...before, one]
      summarise(next, before)
      before = next
    }
    expect(summarise(before)).toEqual(summarise([...events]))
    expect(summarise(before)).toMatchObject({
      status: 'running',
      statePosition: events[2]?.position,
    })
    expect(summarise(before).pending.map(({ id, timestamp }) => [id, timestamp])).toEqual([
      ['q', new Date('2026-01-31T12:00:00.000Z')],
    ])
  })

  it.each([
    'input:accepted',
    'input:received',
    'input:corrected',
    'input:cancelled',
    'input:expired',
    'input:failed',
  ])('takes a question off at %s', (name) => {
    const asked = event('input:requested', { id: 'q', prompt: 'Go?', type: 'choice' })
    expect(summarise([asked]).pending).toHaveLength(1)
    expect(summarise([asked, event(name, { id: 'other' })]).pending).toHaveLength(1)
    expect(summarise([asked, event(name, { id: 'q' })]).pending).toEqual([])
  })

  it('leaves the questions and the end of the shared part to the parent of a fork', () => {
    const asked = event('input:requested', { id: 'q', prompt: 'Go?', type: 'choice' })
    const forked = summarise([event('workflow:completed'), asked, event('session:forked')])
    expect(forked).toMatchObject({ status: 'running', pending: [] })
  })
})

describe('answersOf', () => {
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
    expect(known && isOpen(known)).toBe(false)
    expect(isOpen({ status: 'pending', accepted: null })).toBe(true)
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

describe('mergeDeltas', () => {
  it('joins what one attempt says, also while another run speaks', () => {
    const events = [
      said('a#1', 'one '),
      said('b#1', 'eins '),
      said('a#1', 'two'),
      event('tool:called', { run: 'a#1', attempt: 1, toolId: 't' }),
      said('a#1', 'three'),
      said('b#1', 'zwei'),
      said('a#1', 'again', 2),
    ]
    const merged = mergeDeltas(events)
    expect(merged.map((one) => one.payload.delta ?? one.name)).toEqual([
      'one two',
      'eins zwei',
      'tool:called',
      'three',
      'again',
    ])
    expect(events[0]?.payload.delta).toBe('one ')
  })
})

describe('textOf', () => {
  it('is what the last run said in its last attempt', () => {
    const events = [
      said('a#1', 'old'),
      said('b#1', 'x'),
      said('b#1', 'be', 2),
      said('b#1', 'tter', 2),
    ]
    expect(textOf(events)).toBe('better')
    expect(textOf(events, { run: 'a#1' })).toBe('old')
    expect(textOf(events, { kind: 'thinking' })).toBe('')
  })
})
