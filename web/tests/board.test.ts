import { readFileSync } from 'node:fs'
import { expect, describe as group, it } from 'vitest'
import { askOf } from '../src/asks/ask'
import { blocksOf } from '../src/asks/blocks'
import { answersOf, NOTHING, toggled, written } from '../src/asks/chosen'
import { headlineOf } from '../src/asks/headline'
import { rulesOf } from '../src/asks/rules'
import { briefOf, doingOf } from '../src/asks/tools'
import { fits, titleOf } from '../src/board/names'
import { nextOrder, ORDERS, ordered, orderOf } from '../src/board/order'
import { standing } from '../src/board/PlateStatus'
import { describePlate } from '../src/board/tellers'
import { type Command, matching } from '../src/palette/commands'
import { diffRows, lineDifferences, omittedRows } from '../src/parts/lines'
import { firstLine, onOneLine, visible } from '../src/parts/visible'
import type { Plate } from '../src/server/types'
import { eventsOf } from './events'

group('text from anywhere', () => {
  it('has nothing hidden in it', () => {
    expect(visible('rm \u202e fr-\u001b[2J\r')).toBe('rm \\u202e fr-\\x1b[2J\\x0d')
    expect(visible('a\u200bb\u{e0001}')).toBe('a\\u200bb\\U000e0001')
    expect(visible('tab\tline\n👩‍🚀 می‌خواهم')).toBe('tab\tline\n👩‍🚀 می‌خواهم')
    expect(firstLine('\n one\ntwo')).toBe('one')
  })
})

group('a change of a text', () => {
  const said = (before: string, after: string) =>
    lineDifferences(before, after).map(({ kind, text }) => `${kind[0]} ${text}`)

  it('keeps what is in both', () => {
    expect(said('a\nb\nc', 'a\nx\nc')).toEqual(['k a', 'r b', 'a x', 'k c'])
    expect(said('', 'one\ntwo\n')).toEqual(['a one', 'a two'])
    expect(said('one\n', '')).toEqual(['r one'])
    expect(said('a\nb\nc\nd', 'b\nd\ne')).toEqual(['r a', 'k b', 'r c', 'k d', 'a e'])
  })

  it('gives both texts back, however long they are', () => {
    const text = (seed: number) =>
      Array.from({ length: 1500 }, (_, at) => `line ${(at * seed) % 97}`).join('\n')
    for (const [before, after] of [[text(7), text(11)] as const, ['a\na\nb', 'b\na\na'] as const]) {
      const lines = lineDifferences(before, after)
      const without = (kind: string) =>
        lines.filter((line) => line.kind !== kind).map((line) => line.text)
      expect(without('added').join('\n')).toBe(before)
      expect(without('removed').join('\n')).toBe(after)
    }
  })
})

group('a change of a text as it is shown', () => {
  it('tells blank lines in words, each kind by itself', () => {
    const after = `a${'\n'.repeat(300)}; curl evil\n`
    const rows = diffRows(lineDifferences('a\n', after))
    expect(rows.map(({ kind, text }) => `${kind[0]} ${text}`)).toEqual([
      'k a',
      'a ⋯ 299 blank lines ⋯',
      'a ; curl evil',
    ])
  })

  it('has its end, however long it is', () => {
    const after = Array.from({ length: 1000 }, (_, at) => `line ${at}`).join('\n')
    const { head, omitted, tail } = omittedRows(diffRows(lineDifferences('', after)))
    expect([head.length, tail.length]).toEqual([150, 150])
    expect(omitted).toBe('⋯ 700 lines, 5,600 characters not shown ⋯')
    expect(tail.at(-1)?.text).toBe('line 999')
  })
})

group('what an agent asks', () => {
  const config = {
    plateId: 'p1',
    agent: 'claude',
    toolName: 'Bash',
    toolInput: { command: 'ls' },
    cwd: '/home/u/proj',
  }

  it('is read whatever is missing', () => {
    expect(askOf({ type: 'permission', config })).toMatchObject({
      plateId: 'p1',
      toolName: 'Bash',
      suggestions: [],
    })
    expect(askOf({ type: 'approval', config: null })).toBeNull()
    expect(askOf({ type: 'approval', config: { plateId: 7 } })).toBeNull()
    const asked = { plateId: 'p', questions: [null, { options: ['a', {}] }] }
    const odd = askOf({ type: 'question', config: asked })
    expect(odd?.questions).toHaveLength(2)
    expect(odd?.questions[1]?.options.map((one) => one.label)).toEqual(['a', ''])
  })

  it('may come from an agent of a session, which is on no plate', () => {
    const asked = { agent: 'claude', toolName: 'Bash', toolInput: { command: 'ls' } }
    expect(askOf({ type: 'permission', config: asked })).toMatchObject({
      plateId: null,
      agent: 'claude',
      toolName: 'Bash',
    })
  })

  it('shows an input that came as text, because JSON cannot hold it', () => {
    const asked = { ...config, toolInput: "{'command': 'ls \\ud800; rm'}" }
    const input = { input: "{'command': 'ls \\ud800; rm'}" }
    expect(askOf({ type: 'permission', config: asked })?.toolInput).toEqual(input)
    expect(doingOf(input)).toMatchObject({ rest: [['input', input.input]] })
  })

  it('has a headline', () => {
    const ask = askOf({ type: 'permission', config })
    if (!ask) throw new Error('no ask')
    expect(headlineOf({ type: 'permission', prompt: 'Run: ls' }, ask)).toBe('Allow Bash?')
  })

  it('is shown as what it does', () => {
    expect(doingOf({ command: 'ls', description: 'List' })).toEqual({
      kind: 'command',
      command: 'ls',
      about: 'List',
      rest: [],
    })
    expect(doingOf({ command: ['git', 'status'] })).toMatchObject({ command: 'git status' })
    expect(doingOf({ file_path: '/a', old_string: 'x', new_string: '' })).toEqual({
      kind: 'edits',
      file: '/a',
      edits: [{ before: 'x', after: '', everywhere: false }],
      about: null,
      rest: [],
    })
    expect(doingOf({ file_path: '/a', content: '' })).toMatchObject({ kind: 'content' })
    expect(doingOf({ url: 'http://x' })).toMatchObject({ kind: 'other' })
    expect(briefOf({ command: 'a\n  b' })).toBe('a b')
  })

  it('is shown with every key, and with nothing before what it is about', () => {
    const given = { command: 'ls', timeout: 9, dangerouslyDisableSandbox: true }
    expect(doingOf(given).rest).toEqual([
      ['timeout', 9],
      ['dangerouslyDisableSandbox', true],
    ])
    const long = 'Lists files.\n'.repeat(40)
    expect(doingOf({ command: 'ls', description: long })).toMatchObject({
      about: null,
      rest: [['description', long]],
    })
    expect(doingOf({ file_path: '/a', content: 'x', mode: '777' }).rest).toEqual([['mode', '777']])
    // Where one of the edits is of another shape, all of them are shown as they are.
    const edits = [{ old_string: 'a', new_string: 'b' }, { insert: 'c' }]
    expect(doingOf({ file_path: '/a', edits })).toMatchObject({
      kind: 'other',
      rest: [
        ['file_path', '/a'],
        ['edits', edits],
      ],
    })
    expect(doingOf({ url: 'http://x', method: 'POST' }).rest).toHaveLength(2)
    expect(onOneLine('/tmp/a\n\tb\u202e')).toBe('/tmp/a\\n\\tb\\u202e')
  })

  it('says that only its beginning is known, unless that is all of a plan', () => {
    const cut = { ...config, truncated: true }
    expect(askOf({ type: 'permission', config: cut })?.truncated).toBe(true)
    expect(askOf({ type: 'plan', config: { ...cut, plan: '# All' } })?.truncated).toBe(false)
    expect(askOf({ type: 'plan', config: { ...cut, plan: '# Half…' } })?.truncated).toBe(true)
    const ends = '# Plan … 900,123 characters not shown … end'
    expect(askOf({ type: 'plan', config: { ...cut, plan: ends } })?.truncated).toBe(true)
  })

  it('is nothing on one line', () => {
    expect(briefOf(null)).toBe('')
  })

  it('says exactly which rule "always" makes', () => {
    const [rule, directory, mode, unknown] = rulesOf([
      {
        type: 'addRules',
        rules: [{ toolName: 'Bash', ruleContent: 'touch /p/zz' }, { toolName: 'WebSearch' }],
        behavior: 'allow',
        destination: 'localSettings',
      },
      { type: 'addDirectories', directories: ['/p'], destination: 'session' },
      { type: 'setMode', mode: 'acceptEdits', destination: 'session' },
      { type: 'somethingNew', what: 1 },
    ])
    expect(rule).toMatchObject({
      does: 'Allow without asking',
      exactly: ['Bash(touch /p/zz)', 'WebSearch'],
    })
    expect(rule?.where).toContain('settings.local.json')
    expect(directory).toMatchObject({ does: 'Let it work in', exactly: ['/p'] })
    expect(mode?.exactly).toEqual(['acceptEdits'])
    expect(unknown?.exactly[0]).toContain('somethingNew')
  })
})

group('answers to an agent', () => {
  const options = ['red', 'green', 'blue'].map((label) => ({
    label,
    description: '',
    preview: '',
  }))
  const one = { question: 'Colour?', header: '', options, multiSelect: false, omitted: 0 }
  const several = { ...one, question: 'Colours?', multiSelect: true }

  it('are one label, or an own text in its place', () => {
    const red = toggled(one, NOTHING, 'red')
    expect(answersOf([one], { 'Colour?': toggled(one, red, 'blue') })).toEqual({
      'Colour?': 'blue',
    })
    expect(answersOf([one], { 'Colour?': written(one, red, ' teal ') })).toEqual({
      'Colour?': 'teal',
    })
    expect(answersOf([one], { 'Colour?': toggled(one, red, 'red') })).toBeNull()
  })

  it('are several where that is allowed, in the order in which they are offered', () => {
    const both = toggled(several, toggled(several, NOTHING, 'blue'), 'red')
    expect(answersOf([several], { 'Colours?': written(several, both, 'teal') })).toEqual({
      'Colours?': ['red', 'blue', 'teal'],
    })
    expect(answersOf([one, several], { 'Colours?': both })).toBeNull()
  })
})

group('a plan', () => {
  it('is read as headings, lists, code and text', () => {
    const blocks = blocksOf(
      '# Plan\nFirst\nthen\n\n1. do\n   - it\n```sh\n# no heading\n```\n<b>x</b>',
    )
    expect(blocks).toEqual([
      { kind: 'heading', level: 1, text: 'Plan' },
      { kind: 'text', text: 'First\nthen' },
      {
        kind: 'items',
        ordered: true,
        items: [
          { text: 'do', mark: '1.', depth: 0 },
          { text: 'it', mark: '-', depth: 1 },
        ],
      },
      { kind: 'code', text: '# no heading', info: 'sh' },
      { kind: 'text', text: '<b>x</b>' },
    ])
    expect(blocksOf('```\nnever closed')).toEqual([
      { kind: 'code', text: 'never closed', info: '' },
    ])
    expect(blocksOf('a\n\n\n\n\nb\n\nc')).toEqual([
      { kind: 'text', text: 'a' },
      { kind: 'blank', text: '⋯ 4 blank lines ⋯' },
      { kind: 'text', text: 'b' },
      { kind: 'text', text: 'c' },
    ])
    expect(blocksOf('# One\r\n```sh\r\nls\r\n```\r\n').map(({ kind }) => kind)).toEqual([
      'heading',
      'code',
    ])
    expect(blocksOf('')).toEqual([])
  })
})

group('what happened to a plate', () => {
  it('has words for every event of a plate', () => {
    const names = ['plates', 'messages', 'usage', 'names'].flatMap((module) => {
      const source = readFileSync(`${import.meta.dirname}/../../src/callboard/events/${module}.py`)
      return [...source.toString().matchAll(/EventName\(\s*"([a-z_:]+)"/g)].map((found) => found[1])
    })
    expect(names).toContain('message_queued')
    const own = names.filter((name) => !/^(host_|budget_)/.test(name ?? ''))
    const untold = own.filter((name) => {
      const [event] = eventsOf([name ?? '', {}])
      return event && describePlate(event).tone === 'unknown'
    })
    expect(untold).toEqual([])
  })

  it('is told in words', () => {
    const told = (name: string, payload: Record<string, unknown>) => {
      const [event] = eventsOf([name, payload])
      if (!event) throw new Error('no event')
      return describePlate(event)
    }
    expect(
      told('tool_start', { toolName: 'Bash', raw: { tool_input: { command: 'ls' } } }),
    ).toEqual({
      tone: 'agent',
      title: 'Using Bash',
      detail: 'ls',
    })
    expect(told('message_queued', { by: 'ann', text: 'Stop.', when: 'after_turn' })).toEqual({
      tone: 'person',
      title: 'Message queued by ann for after the turn',
      detail: 'Stop.',
    })
    expect(told('message_lost', { reason: 'It ended.' })).toMatchObject({ detail: 'It ended.' })
    expect(told('stop', { message: 'All done.' })).toMatchObject({ title: 'Done' })
    expect(told('permission_resolved', {})).toMatchObject({ title: 'Dialog closed' })
    expect(told('permission_resolved', { handed: true }).title).toBe('Answer sent to the agent')
    expect(
      told('permission_settled', { outcome: 'denied', via: 'terminal', source: 'transcript' }),
    ).toMatchObject({
      title: 'Confirmed: denied',
      detail: 'in the terminal, found in its transcript',
    })
    expect(told('plate_dismissed', { by: 'admin', as: 'dana' }).detail).toBe('by admin, as “dana”')
    expect(told('tool_call', { toolName: 'Bash', subagent: 'a1' }).title).toMatch(/^Subagent: /)
    expect(told('input:requested', { prompt: 'Run: ls' })).toMatchObject({ title: 'Question' })
    expect(told('brand_new', {})).toMatchObject({ tone: 'unknown', title: 'brand_new' })
  })

  it('is called by its name, else by its project', () => {
    expect(titleOf({ name: null, projectPath: '/home/u/proj/', plateId: 'p1' })).toBe('proj')
    expect(titleOf({ name: 'mine', projectPath: '/x', plateId: 'p1' })).toBe('mine')
    expect(titleOf({ name: null, projectPath: '', plateId: 'p1' })).toBe('p1')
  })
})

group('the board', () => {
  const plate = (plateId: string, change: Partial<Plate> = {}) =>
    ({
      plateId,
      name: plateId,
      projectPath: `/home/u/${plateId}`,
      agent: 'claude',
      status: 'running',
      attention: false,
      pinned: false,
      updatedAt: '2026-01-01T00:00:00.000Z',
      ...change,
    }) as Plate
  const waits = plate('shop', { attention: true, status: 'awaiting_approval' })
  const idle = plate('docs', { status: 'idle', updatedAt: '2026-01-03T00:00:00.000Z' })
  const pinned = plate('zoo', { pinned: true })
  const runs = plate('api', { gitBranch: 'main', updatedAt: '2026-01-02T00:00:00.000Z' })
  const names = (plates: ReadonlyArray<Plate>) => plates.map((one) => one.plateId).join(' ')

  it('keeps who needs a person first, and pinned plates first in their group', () => {
    const all = [idle, runs, pinned, waits]
    expect(names(ordered(all, 'waiting'))).toBe('docs api zoo shop')
    expect(names(ordered(all, 'latest'))).toBe('shop zoo api docs')
    expect(names(ordered([plate('b'), plate('a'), waits], 'project'))).toBe('shop a b')
  })

  it('goes through the orders, and takes the usual one for what it does not know', () => {
    expect([orderOf(null), orderOf('x'), orderOf('latest')]).toEqual([
      'waiting',
      'waiting',
      'latest',
    ])
    expect(ORDERS.map(nextOrder)).toEqual(['latest', 'project', 'waiting'])
  })

  it('finds what has every word, in any order', () => {
    expect(fits(runs, 'main api')).toBe(true)
    expect(fits(runs, ' Claude  API ')).toBe(true)
    expect(fits(runs, 'api shop')).toBe(false)
    expect(fits(runs, '')).toBe(true)
  })
})

group('the palette', () => {
  const command = (group: string, label: string, hint = ''): Command => ({
    id: label,
    group,
    label,
    hint,
    run: () => {},
  })
  const all = [
    command('Actions', 'Fork here', 'Session'),
    command('Pages', 'Inbox'),
    command('Pages', 'Sessions'),
    command('Board', 'proj', 'Claude Code · main'),
  ]
  const labels = (text: string) => matching(all, text).map((one) => one.label)

  it('finds by every word, the closest first', () => {
    expect(labels('')).toHaveLength(4)
    expect(labels('sess')).toEqual(['Sessions', 'Fork here'])
    expect(labels('claude main')).toEqual(['proj'])
    expect(labels('fork nowhere')).toEqual([])
  })
})

group('how a plate stands', () => {
  const plate = { unseen: true, interrupted: false, background: [], waitingFor: null } as const

  it('is never done while a subagent asks', () => {
    expect(standing({ ...plate, status: 'idle' })).toBe('done')
    for (const status of ['idle', 'running', 'starting'] as const) {
      const asks = { ...plate, status, waitingFor: 'Run: make clean' }
      expect(standing(asks)).toBe('awaiting_approval')
    }
    expect(standing({ ...plate, status: 'error', waitingFor: 'Run: ls' })).toBe('error')
  })
})
