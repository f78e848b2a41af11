import { expect, describe as group, it } from 'vitest'
import { cuesOf, segmentsOf, type Visit } from '../src/session/cues'
import { describe } from '../src/session/describe'
import { isOver, lastWork } from '../src/session/forking'
import { layout } from '../src/session/layout'
import { ledgerOf } from '../src/session/ledger'
import { folded, loopsOf } from '../src/session/loops'
import { pathAt, way } from '../src/session/path'
import { excerptAround, marked, matches, wanted } from '../src/session/search'
import { type Beat, story } from '../src/session/story'
import { fitted, opening, panned, SCALE, type View, zoomed } from '../src/session/viewport'
import { moment, spansDays } from '../src/session/when'
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
    expect([told?.title, told?.detail]).toEqual(['Skipped pack', 'next: book'])
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
  const spans = (cues: ReturnType<typeof cuesOf>) =>
    cues.segments.map(({ phases, visit, from, to }) => [phases.join(' '), visit, from, to])

  it('give each visit a segment, and each question a place', () => {
    const cues = cuesOf(TWICE)
    expect(spans(cues)).toEqual([
      ['plan', 1, 2, 6],
      ['plan', 2, 7, 9],
      ['book', 1, 10, 10],
    ])
    expect(cues.segments[0]).toMatchObject({
      startedAt: TWICE[1]?.timestamp,
      endedAt: TWICE[5]?.timestamp,
    })
    expect([cues.questions, cues.fork]).toEqual([[4], null])
  })
})

/** The same numbers every time, as if by chance. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

group('segments of many visits', () => {
  const visitsOf = (phases: ReadonlyArray<string>): Visit[] =>
    phases.map((phase, index) => ({
      phase,
      visit: index + 1,
      from: index + 1,
      to: index + 1,
      startedAt: '',
      endedAt: '',
    }))
  const told = (phases: ReadonlyArray<string>) =>
    segmentsOf(visitsOf(phases)).map((one) => `${one.phases.join(' ')} ×${one.times}`)

  it('are rounds of a loop', () => {
    const rounds = Array.from({ length: 250 }, () => ['write', 'review']).flat()
    expect(told(['plan', ...rounds, 'ship'])).toEqual(['plan ×1', 'write review ×250', 'ship ×1'])
    expect(told(Array.from({ length: 500 }, () => 'count'))).toEqual(['count ×500'])
  })

  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'cover all of them, few, in order: %i',
    (seed) => {
      const below = chance(seed)
      const names = Array.from({ length: 1 + below(6) }, (_, index) => `p${index}`)
      const visits = visitsOf(
        Array.from({ length: below(900) }, () => names[below(names.length)] ?? ''),
      )
      const segments = segmentsOf(visits)
      expect(segments.length).toBeLessThanOrEqual(60)
      expect(segments.reduce((sum, one) => sum + one.visits, 0)).toBe(visits.length)
      let end = 0
      for (const { from, to } of segments) {
        expect(from).toBe(end + 1)
        expect(to).toBeGreaterThanOrEqual(from)
        end = to
      }
      expect(end).toBe(visits.length)
    },
  )
})

group('search', () => {
  const beats = story(
    eventsOf(
      ['text:delta', { agent: 'writer', run: 'a', attempt: 1, delta: 'See Lis' }],
      ['text:delta', { agent: 'writer', run: 'a', attempt: 1, delta: 'bon (2.0)' }],
      ['state:intent', { patches: [{ op: 'replace', path: '/budget', value: { EUR: 'lisbon' } }] }],
      ['input:requested', { id: 'q', prompt: 'Go?' }],
    ),
  )

  it('finds text in output, across its pieces, in states and in prompts', () => {
    expect(matches(beats, wanted('LISBON'))).toEqual([0, 1])
    expect(matches(beats, wanted('go?'))).toEqual([2])
    expect(matches(beats, wanted('(2.0)'))).toEqual([0])
    expect(matches(beats, wanted('nowhere'))).toEqual([])
    expect(matches(beats, wanted('  '))).toEqual([])
  })

  it('marks what it found, and shows the place if that is hidden', () => {
    const query = wanted('lisbon') as RegExp
    expect(matches(beats, query)).toEqual([0, 1])
    expect(marked('To Lisbon, lisbon!', query)).toEqual([
      { text: 'To ', isMatch: false },
      { text: 'Lisbon', isMatch: true },
      { text: ', ', isMatch: false },
      { text: 'lisbon', isMatch: true },
      { text: '!', isMatch: false },
    ])
    const [said, changed] = beats as [Beat, Beat]
    expect(excerptAround(said, said.detail ?? '', query)).toBe(null)
    expect(excerptAround(changed, changed.title, query)).toContain('EUR lisbon')
    expect(marked('lisbon', query)).toEqual([{ text: 'lisbon', isMatch: true }])
  })
})

group('the layout', () => {
  const phase = (name: string) => ({
    name,
    agent: null,
    human: false,
    terminal: false,
    leadsTo: null,
    limit: null,
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

group('loops', () => {
  const phase = (name: string) => ({
    name,
    agent: null,
    human: false,
    terminal: false,
    leadsTo: null,
    limit: null,
  })
  const edge = (from: string, to: string) => ({ from, to, taken: 'always' as const })
  const names = (...all: string[]) => all.map(phase)

  it('are the phases between an edge back and its target', () => {
    const phases = names('plan', 'write', 'note', 'review', 'ship', 'tell')
    const edges = [
      edge('plan', 'write'),
      edge('write', 'review'),
      edge('review', 'write'),
      edge('review', 'ship'),
      edge('write', 'note'),
      edge('ship', 'tell'),
    ]
    const loops = loopsOf(phases, edges)
    expect(loops).toEqual([['write', 'review']])
    const { stops, edges: left, stopOf } = folded(phases, edges, loops)
    expect(stops.map(({ name }) => name)).toEqual(['plan', 'write…review', 'note', 'ship', 'tell'])
    expect(left.map(({ from, to }) => `${from}→${to}`)).toEqual([
      'plan→write…review',
      'write…review→write…review',
      'write…review→ship',
      'write…review→note',
      'ship→tell',
    ])
    expect(stopOf.get('review')).toBe('write…review')
  })

  it('stay open when they are most of the workflow', () => {
    const phases = names('a', 'b', 'c')
    expect(loopsOf(phases, [edge('a', 'b'), edge('b', 'c'), edge('c', 'a')])).toEqual([])
  })

  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    'lose no phase and no edge: %i',
    (seed) => {
      const below = chance(seed + 100)
      const phases = names(...Array.from({ length: 2 + below(30) }, (_, index) => `p${index}`))
      const any = () => `p${below(phases.length)}`
      const edges = Array.from({ length: below(60) }, () => edge(any(), any()))
      const loops = loopsOf(phases, edges)
      const { stops, edges: left, stopOf } = folded(phases, edges, loops)
      expect(stops.flatMap((stop) => stop.phases).length).toBe(phases.length)
      expect(new Set(stops.map(({ name }) => name)).size).toBe(stops.length)
      const known = new Set(left.map(({ from, to }) => `${from}→${to}`))
      expect(known.size).toBe(left.length)
      const expected = edges.map(({ from, to }) => `${stopOf.get(from)}→${stopOf.get(to)}`)
      expect(known).toEqual(new Set(expected))
      expect(layout(stops, left).nodes.length).toBe(stops.length)
    },
  )
})

group('the window on the graph', () => {
  const long = { width: 16_000, height: 120 }
  const box = { width: 400, height: 150 }
  const shown = (view: View, point: { x: number; y: number }) => ({
    x: view.x + point.x * view.scale,
    y: view.y + point.y * view.scale,
  })

  it('opens with all of a small drawing, never larger than life', () => {
    expect(opening({ width: 200, height: 100 }, box, null)).toEqual({ x: 100, y: 25, scale: 1 })
  })

  it.each([0, 74, 8_000, 15_900, 16_000])('opens with the current phase in view: %i', (x) => {
    const view = opening(long, box, { x, y: 60 })
    const at = shown(view, { x, y: 60 })
    expect(view.scale).toBe(1)
    expect(at.x).toBeGreaterThanOrEqual(0)
    expect(at.x).toBeLessThanOrEqual(box.width)
  })

  it('fits everything at once', () => {
    const view = fitted(long, box)
    expect(shown(view, { x: 0, y: 0 }).x).toBeGreaterThanOrEqual(-0.001)
    expect(shown(view, { x: long.width, y: 0 }).x).toBeLessThanOrEqual(box.width)
  })

  it('zooms around the pointer and cannot lose the drawing', () => {
    const view = opening(long, box, { x: 8_000, y: 60 })
    const pointer = { x: 300, y: 75 }
    const under = { x: (pointer.x - view.x) / view.scale, y: 60 }
    const closer = zoomed(view, 2, pointer, long, box)
    expect(shown(closer, under).x).toBeCloseTo(pointer.x)
    const far = panned(view, { x: 1e9, y: 1e9 }, long, box)
    expect([far.x, far.y]).toEqual([0, (box.height - long.height) / 2])
    expect(panned(view, { x: -1e9, y: 0 }, long, box).x).toBe(box.width - long.width)
    expect(zoomed(view, 1e9, pointer, long, box).scale).toBe(SCALE.most)
    expect(zoomed(view, 0, pointer, long, box).scale).toBe(SCALE.least)
  })
})

group('moments', () => {
  it('have a date where a session spans days', () => {
    expect(spansDays('2026-01-02T10:00:00Z', '2026-01-02T10:05:00Z')).toBe(false)
    expect(spansDays('2026-01-02T10:00:00Z', '2026-01-04T10:05:00Z')).toBe(true)
    expect(moment('2020-01-02T10:00:00Z', true)).toContain('2020')
    expect(moment('2020-01-02T10:00:00Z', false)).not.toContain('2020')
  })
})

group('a fork', () => {
  const done = eventsOf(
    ['workflow:started', { workflow: 'trip' }],
    ['phase:entered', { phase: 'plan', visit: 1 }],
    ['agent:started', { agent: 'planner', phase: 'plan' }],
    ['phase:exited', { phase: 'plan', visit: 1, reason: 'next', next: 'end' }],
    ['phase:entered', { phase: 'end', visit: 1 }],
    ['phase:exited', { phase: 'end', visit: 1, reason: 'terminal' }],
    ['workflow:completed', {}],
  )

  it('has nothing to run after the end of a completed session', () => {
    expect(isOver({ status: 'completed' }, done, 7)).toBe(true)
    expect(isOver({ status: 'completed' }, done, 6)).toBe(false)
    expect(isOver({ status: 'failed' }, done, 7)).toBe(false)
    expect(isOver({ status: 'running' }, TWICE, 10)).toBe(false)
  })

  it('can do the last work again', () => {
    expect(lastWork(done)).toEqual({ position: 1, phase: 'plan' })
    expect(lastWork(TWICE)).toEqual({ position: 1, phase: 'plan' })
    expect(lastWork([])).toBeNull()
  })
})
