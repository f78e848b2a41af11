import { act, renderHook, waitFor } from '@testing-library/react'
import { describe, expect, inject, it } from 'vitest'
import {
  AlreadyAnswered,
  isPlateEvent,
  useBoard,
  useInbox,
  useInteraction,
  usePlateEvents,
} from '../src/index'
import { client, page } from './page'
import { TOKEN } from './serving'

let agents = 0

/** A coding agent whose hooks reach the server as they are. */
class Agent {
  readonly session = `board-${process.pid}-${++agents}`

  hook(name: string, more: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return post('/hooks/claude', {
      session_id: this.session,
      hook_event_name: name,
      cwd: `/home/u/${this.session}`,
      ...more,
    })
  }

  start() {
    return this.hook('SessionStart', { source: 'startup' })
  }

  /** Ask for a permission and hold the hook open, as our client does. */
  asks(command: string, hold: string) {
    return this.hook('PermissionRequest', {
      tool_name: 'Bash',
      tool_input: { command },
      callboard: { hold },
    })
  }
}

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await fetch(inject('url') + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Record<string, unknown>
}

function board() {
  const { result } = renderHook(() => useBoard(), { wrapper: page() })
  const plateOf = (agent: Agent) =>
    result.current.plates.find((one) => one.sessionId === agent.session)
  return { result, plateOf }
}

describe('useBoard', () => {
  it('shows plates as they move', async () => {
    const agent = new Agent()
    const { result, plateOf } = board()
    await waitFor(() => expect(result.current.status).toBe('connected'))
    await agent.start()
    await waitFor(() => expect(plateOf(agent)?.status).toBe('idle'))
    await agent.hook('UserPromptSubmit', { prompt: 'Go on' })
    await waitFor(() => expect(plateOf(agent)?.status).toBe('running'))
    expect(plateOf(agent)).toMatchObject({ agent: 'claude', prompt: 'Go on', attention: false })
    await agent.hook('Stop', { last_assistant_message: 'Done.' })
    await waitFor(() => expect(plateOf(agent)).toMatchObject({ status: 'idle', unseen: true }))
    expect(result.current.needy.map((one) => one.sessionId)).toContain(agent.session)
  })

  it('answers what a held hook asks, and the hook gets the decision', async () => {
    const agent = new Agent()
    await agent.start()
    const { result, plateOf } = board()
    const held = agent.asks('touch x', `hold-${agent.session}`)
    await waitFor(() => expect(plateOf(agent)?.interactionId).toBeTruthy())
    expect(result.current.plates[0]?.attention).toBe(true)
    const id = plateOf(agent)?.interactionId ?? ''
    const denied = { value: { approved: false, message: 'Not that file.' } }
    await act(() => result.current.answer(id, denied))
    expect(await held).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: 'Not that file.' } },
    })
    // Not within act: React 18 draws nothing any more after one that was rejected.
    await expect(result.current.answer(id, denied)).rejects.toThrow(AlreadyAnswered)
    await waitFor(() => expect(plateOf(agent)?.interactionId).toBeNull())
  })

  it('shows an answer as accepted until the agent confirms it', async () => {
    const agent = new Agent()
    await agent.start()
    const id = `hold-${agent.session}`
    const inbox = renderHook(() => ({ ...useInbox(), one: useInteraction(id).interaction }), {
      wrapper: page(),
    })
    const known = (list: 'interactions' | 'unconfirmed') =>
      inbox.result.current[list].some((one) => one.id === id)
    await waitFor(() => expect(inbox.result.current.status).toBe('connected'))
    const held = agent.asks('touch z', id)
    await waitFor(() => expect(known('interactions')).toBe(true))
    const taken = await act(() => inbox.result.current.answer(id, { approved: true }))
    await held
    // Nothing shows yet that the agent went on with it.
    expect(taken).toMatchObject({ status: 'pending', receipt: 'pending', answeredBy: 'admin' })
    expect(known('interactions')).toBe(false)
    expect(known('unconfirmed')).toBe(true)
    await agent.hook('PostToolUse', { tool_name: 'Bash', tool_input: { command: 'touch z' } })
    await waitFor(() =>
      expect(inbox.result.current.one).toMatchObject({ status: 'completed', receipt: 'delivered' }),
    )
    await waitFor(() => expect(known('unconfirmed')).toBe(false))
  })

  it('names, pins, marks and dismisses, and shows that', async () => {
    const agent = new Agent()
    await agent.start()
    await agent.hook('Stop', {})
    const { result, plateOf } = board()
    await waitFor(() => expect(plateOf(agent)?.unseen).toBe(true))
    const id = plateOf(agent)?.plateId ?? ''
    await act(() => result.current.rename(id, 'The one'))
    await waitFor(() => expect(plateOf(agent)?.name).toBe('The one'))
    await act(() => result.current.pin(id, true))
    await act(() => result.current.markSeen(id))
    await waitFor(() =>
      expect(plateOf(agent)).toMatchObject({ pinned: true, unseen: false, attention: false }),
    )
    await act(() => result.current.dismiss(id))
    await waitFor(() => expect(plateOf(agent)).toBeUndefined())
    await agent.start()
    await waitFor(() => expect(plateOf(agent)?.name).toBe('The one'))
  })

  it('asks the server a bounded number of times, however much happens', async () => {
    const agent = new Agent()
    await agent.start()
    const { result, plateOf } = board()
    await waitFor(() => expect(result.current.status).toBe('connected'))
    const asked = globalThis.fetch
    let lists = 0
    globalThis.fetch = (input, init) => {
      if (String(input).endsWith('/plates')) lists += 1
      return asked(input, init)
    }
    try {
      for (let at = 0; at < 100; at += 1) {
        await agent.hook('PostToolUse', { tool_name: `Tool${at}`, tool_input: {} })
      }
      await waitFor(() => expect(plateOf(agent)?.lastTool).toBe('Tool99'))
    } finally {
      globalThis.fetch = asked
    }
    expect(lists).toBeLessThan(50)
  })
})

describe('usePlateEvents', () => {
  it('has all that happened, once, with what comes while it is read', async () => {
    const agent = new Agent()
    await agent.start()
    const plates = await client().listPlates()
    const id = plates.find((one) => one.sessionId === agent.session)?.plateId ?? ''
    const { result } = renderHook(() => usePlateEvents(id), { wrapper: page() })
    await waitFor(() => expect(result.current.events.length).toBeGreaterThan(0))
    const held = agent.asks('touch y', `hold-${agent.session}`)
    await waitFor(() =>
      expect(result.current.events.map((one) => one.name)).toContain('input:requested'),
    )
    await client().answer(`hold-${agent.session}`, { approved: true })
    await held
    await waitFor(() =>
      expect(result.current.events.map((one) => one.name)).toContain('permission_resolved'),
    )
    const { events } = result.current
    expect(events.map((one) => one.position)).toEqual(events.map((_, index) => index + 1))
    const [first] = events
    expect(first && isPlateEvent(first)).toBe(true)
  })
})
