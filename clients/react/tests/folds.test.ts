import { describe, expect, it } from 'vitest'
import { isOpen, mergeDeltas, type SerializedEvent, summarise, textOf } from '../src/client/index'

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

describe('isOpen', () => {
  it('is what still takes an answer', () => {
    expect(isOpen({ status: 'pending', accepted: null })).toBe(true)
    expect(isOpen({ status: 'pending', accepted: { approved: false } })).toBe(false)
    expect(isOpen({ status: 'completed', accepted: null })).toBe(false)
  })
})

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
