import { expect, describe as group, it } from 'vitest'
import { cuesOf } from '../src/session/cues'
import { describe } from '../src/session/describe'
import { layout } from '../src/session/layout'
import { ledgerOf } from '../src/session/ledger'
import { pathAt, way } from '../src/session/path'
import { story } from '../src/session/story'
import { eventsOf } from './events'

const TWICE = eventsOf(
  ['workflow:started', { workflow: 'trip', input: 'Lisbon' }],
  ['phase:entered', { phase: 'plan', visit: 1 }],
  ['agent:completed', { agent: 'planner', phase: 'plan', durationMs: 400, usage: { tokens: 7 } }],
  ['input:requested', { id: 'q', phase: 'plan', prompt: 'Go?' }],
  ['input:received', { id: 'q', approved: false, by: 'dana' }],
  ['phase:exited', { phase: 'plan', visit: 1, reason: 'next', next: 'plan' }],
  ['phase:entered', { phase: 'plan', visit: 2, fromPhase: 'plan' }],
  ['agent:completed', { agent: 'planner', phase: 'plan', durationMs: 100, usage: { tokens: 5 } }],
  ['phase:exited', { phase: 'plan', visit: 2, reason: 'next', next: 'book' }],
  ['phase:entered', { phase: 'book', visit: 1, fromPhase: 'plan' }],
)

group('the story', () => {
  const says = (run: string, delta: string) =>
    ['text:delta', { agent: 'planner', run, attempt: 1, delta }] as const

  it('puts what one run says on one line', () => {
    const beats = story(eventsOf(says('a', 'See '), says('a', 'Lisbon'), says('b', 'Eat')))
    expect(beats.map(({ detail, first, last }) => [detail, first, last])).toEqual([
      ['See Lisbon', 1, 2],
      ['Eat', 3, 3],
    ])
  })

  it('stays linear with ten thousand pieces', () => {
    const many = eventsOf(...Array.from({ length: 10_000 }, () => says('a', 'x')))
    expect(story(many)).toMatchObject([{ first: 1, last: 10_000, detail: 'x'.repeat(10_000) }])
  })

  it('tells a name that it does not know as it is', () => {
    const [event] = eventsOf(['moon:landed', { crew: 3 }])
    expect(event && describe(event)).toMatchObject({ tone: 'unknown', title: 'moon:landed' })
  })

  it.each([
    [
      'input:accepted',
      { response: { approved: false, message: 'No.' }, by: 'admin', as: 'dana', via: 'board' },
      'Answer accepted by admin, as “dana”, waiting for the agent to confirm',
      'Rejected: “No.”',
    ],
    [
      'input:received',
      { value: { approved: true }, approved: true, by: 'admin', receipt: 'delivered' },
      'Delivered: answered by admin',
      'Approved',
    ],
    [
      'input:received',
      { value: { approved: true }, approved: true, via: 'terminal', receipt: 'overruled', by: 'x' },
      'Overruled in the terminal',
      'Approved',
    ],
    ['input:received', { value: 'yes', approved: true, by: 'ann' }, 'Answered by ann', 'Approved'],
    [
      'input:received',
      { approved: false, via: 'terminal' },
      'Answered in the terminal',
      'Rejected',
    ],
    [
      'input:cancelled',
      { reason: 'it is gone', receipt: 'lost', by: 'admin' },
      'Lost: the agent stopped before it got the answer',
      'it is gone',
    ],
    [
      'input:corrected',
      { status: 'completed', response: { approved: true }, source: 'hook', receipt: 'overruled' },
      'Corrected: Overruled in the terminal',
      'Approved',
    ],
    [
      'input:corrected',
      { status: 'completed', response: { approved: true }, source: 'hook', via: 'terminal' },
      'Corrected: Answered in the terminal',
      'Approved',
    ],
    [
      'input:corrected',
      { status: 'cancelled', response: null, source: 'transcript', receipt: 'overruled' },
      'Corrected: Overruled in the terminal',
      'Dismissed in the terminal',
    ],
  ] as const)('tells what became of an answer: %s %#', (name, payload, title, detail) => {
    const [event] = eventsOf([name, { id: 'q', ...payload }])
    expect(event && describe(event)).toMatchObject({ title, detail })
  })

  it('survives a payload of a shape that it does not know', () => {
    const [event] = eventsOf(['state:intent', { patches: [{ where: 'else' }] }])
    expect(event && describe(event)).toMatchObject({ tone: 'unknown' })
  })
})

group('the path', () => {
  it('counts visits and ways up to a position', () => {
    const path = pathAt(TWICE, 7)
    expect(path.visits.get('plan')).toBe(2)
    expect(path.taken.get(way('plan', 'plan'))).toBe(1)
    expect(path.current).toBe('plan')
    expect(path.visits.has('book')).toBe(false)
  })

  it('marks the phase that failed, and forgets it in a fork', () => {
    const failing = eventsOf(
      ['phase:entered', { phase: 'book' }],
      ['phase:exited', { phase: 'book', reason: 'error' }],
      ['workflow:failed', { error: { message: 'no' } }],
      ['session:forked', { phase: 'book' }],
    )
    expect([...pathAt(failing, 3).failed]).toEqual(['book'])
    expect(pathAt(failing, 4).failed.size).toBe(0)
    expect(pathAt(failing, 4).current).toBe('book')
  })

  it('marks a phase that was skipped, until it is entered again', () => {
    const skipping = eventsOf(
      ['phase:entered', { phase: 'pack', guard: false }],
      ['phase:exited', { phase: 'pack', reason: 'skipped', next: 'book' }],
      ['phase:entered', { phase: 'book', fromPhase: 'pack' }],
      ['phase:entered', { phase: 'pack' }],
    )
    expect([...pathAt(skipping, 3).skipped]).toEqual(['pack'])
    expect(pathAt(skipping, 4).skipped.size).toBe(0)
    const told = skipping[1] && describe(skipping[1])
    expect([told?.title, told?.detail]).toEqual(['Skipped pack', 'on to book'])
  })
})

group('the ledger', () => {
  it('adds up agents, people and what was used', () => {
    const ledger = ledgerOf(TWICE, 10)
    expect(ledger.shares[0]).toEqual({ phase: 'plan', agents: 500, people: 1000 })
    expect(ledger.usage.get('tokens')).toBe(12)
    expect(ledger.elapsed).toBe(9000)
  })
})

group('the cues', () => {
  it('gives each visit a stretch, and each question a place', () => {
    expect(cuesOf(TWICE)).toEqual({
      stretches: [
        { phase: 'plan', from: 2, to: 6 },
        { phase: 'plan', from: 7, to: 9 },
        { phase: 'book', from: 10, to: 10 },
      ],
      questions: [4],
      fork: null,
    })
  })
})

group('many cues', () => {
  it('become one stretch where nobody could tell them apart', () => {
    const visits = Array.from(
      { length: 500 },
      (_, visit) => ['phase:entered', { phase: 'count', visit }] as const,
    )
    expect(cuesOf(eventsOf(...visits)).stretches).toEqual([{ phase: 'count', from: 1, to: 500 }])
  })
})

group('the layout', () => {
  const phase = (name: string) => ({
    name,
    agent: null,
    human: false,
    terminal: false,
    leadsTo: null,
  })
  const edge = (from: string, to: string) => ({ from, to, taken: 'always' as const })

  it('stands a phase after all that lead to it, whatever leads back', () => {
    const phases = ['a', 'b', 'c', 'd'].map(phase)
    const edges = [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd'), edge('d', 'a')]
    const { nodes } = layout(phases, edges)
    const [a, b, c, d] = nodes.map(({ x }) => x)
    expect(a).toBeLessThan(b ?? 0)
    expect(b).toBe(c)
    expect(c).toBeLessThan(d ?? 0)
    expect(nodes[1]?.y).not.toBe(nodes[2]?.y)
  })

  it('leaves out a way to a phase that is not there', () => {
    expect(layout([phase('a')], [edge('a', 'gone')]).edges).toEqual([])
  })
})
