import { act, renderHook, waitFor } from '@testing-library/react'
import { afterEach, describe, expect, expectTypeOf, it, vi } from 'vitest'
import { z } from 'zod'
import {
  type AskInteractiveOptions,
  NotFound,
  type UseHumanInteractiveOptions,
  useHumanInteractive,
  ValidationError,
} from '../src/index'
import { asked } from './asked'
import { client, page } from './page'
import { Server } from './serving'

const PENDING = 'Cannot create a new interactive session while one is already pending'
const Decision = z.object({ approved: z.boolean(), notes: z.string() })
type Decided = z.infer<typeof Decision>

function hook<T>(options: UseHumanInteractiveOptions<T> = {}, strict = false, url?: string) {
  const wrapper = page({ strict, ...(url && { url }) })
  return renderHook((now: UseHumanInteractiveOptions<T>) => useHumanInteractive<T>(now), {
    wrapper,
    initialProps: options,
  })
}

describe('useHumanInteractive', () => {
  it('asks, waits, and checks the response', async () => {
    const { result } = hook<Decided>({}, true)
    expect(result.current).toMatchObject({ status: 'idle', data: null, sessionId: null })
    let ended: ReturnType<typeof result.current.requestAsync> | undefined
    act(() => {
      ended = result.current.requestAsync('Review the findings.', {
        context: { severity: 'high' },
        outcomeSchema: { type: 'structured', jsonSchema: z.toJSONSchema(Decision) },
        zodSchema: Decision,
        captureTranscript: true,
      })
    })
    expect(result.current).toMatchObject({ status: 'pending', data: null, error: null })
    await waitFor(() => expect(result.current.sessionId).not.toBeNull())
    const question = await asked('Review the findings.')
    expect(question).toMatchObject({ type: 'interactive_session', id: result.current.sessionId })
    await client().complete(question.id, {
      outcome: 'completed',
      response: { approved: true, notes: 'fine' },
      transcript: 'Hello.',
      durationMs: 12,
    })
    await waitFor(() => expect(result.current.status).toBe('success'))
    const data = await ended
    expect(data).toEqual({
      outcome: 'completed',
      response: { approved: true, notes: 'fine' },
      transcript: 'Hello.',
      duration: 12,
    })
    expect(result.current.data).toEqual(data)
    if (data) expectTypeOf(data.response).toEqualTypeOf<Decided>()
    act(() => result.current.reset())
    expect(result.current).toMatchObject({ status: 'idle', data: null, sessionId: null })
  })

  it('sends every option, and keeps the schema that only it can use', async () => {
    const config = {
      systemPrompt: 'Be brief.',
      context: { files: ['a.py'] },
      model: 'opus',
      cwd: '/tmp',
      mcpConfig: '/tmp/mcp.json',
      timeout: 1_800_000,
      outcomeSchema: { type: 'selection', options: ['left', 'right'] },
      captureTranscript: true,
      blockOrchestration: false,
      haltExecution: true,
      collaborative: true,
      requiredParticipants: ['ada', 'bob'],
      resumeSession: 'an-earlier-one',
      notify: { channel: 'slack', users: ['@security-team'] },
      checkpointInterval: 300_000,
    } as const satisfies AskInteractiveOptions
    const { result } = hook()
    act(() => result.current.request('Everything?', { ...config, zodSchema: z.unknown() }))
    expect((await asked('Everything?')).config).toEqual(config)
    act(() => result.current.cancel())
    await waitFor(() => expect(result.current.data?.outcome).toBe('cancelled'))
  })

  it('asks one at a time', async () => {
    const { result } = hook()
    act(() => result.current.request('First?'))
    // At once, and not only after a render.
    expect(() => result.current.request('Second?')).toThrow(PENDING)
    await expect(result.current.requestAsync('Third?')).rejects.toThrow(PENDING)
    expect(result.current.status).toBe('pending')
    const { id } = await asked('First?')
    await client().complete(id, { outcome: 'completed', response: 'approved' })
    await waitFor(() => expect(result.current.data?.response).toBe('approved'))
    const open = await client().listInteractions({ status: 'pending' })
    expect(open.filter((one) => /Second|Third/.test(one.prompt))).toEqual([])
  })

  it('says so when the response does not fit', async () => {
    const { result } = hook<Decided>()
    let ended: Promise<unknown> = Promise.resolve()
    act(() => {
      ended = result.current.requestAsync('Judge.', { zodSchema: Decision })
    })
    const rejected = expect(ended).rejects.toThrow(ValidationError)
    await client().complete((await asked('Judge.')).id, { outcome: 'completed', response: 'no' })
    await rejected
    await waitFor(() => expect(result.current.status).toBe('error'))
    const error = result.current.error as ValidationError
    expect(error).toBeInstanceOf(ValidationError)
    expect(error.details.issues).toHaveLength(1)
    expect(result.current.data).toBeNull()
  })

  it('rejects when the session failed, and may ask again', async () => {
    const { result } = hook()
    act(() => result.current.request('Fail.'))
    await client().complete((await asked('Fail.')).id, { outcome: 'failed', error: 'out of tea' })
    await waitFor(() => expect(result.current.error?.message).toBe('out of tea'))
    expect(result.current).toMatchObject({ status: 'error', data: null })
    act(() => result.current.request('Try again.'))
    expect(result.current).toMatchObject({ status: 'pending', error: null })
    await client().complete((await asked('Try again.')).id, { outcome: 'completed' })
    await waitFor(() => expect(result.current.status).toBe('success'))
  })

  it('says so when nothing could be asked', async () => {
    const { result } = hook({ sessionId: 'no-such-session' })
    await act(async () => {
      await expect(result.current.requestAsync('Hello?')).rejects.toThrow(NotFound)
    })
    expect(result.current).toMatchObject({ status: 'error', sessionId: null })
    expect(result.current.error).toBeInstanceOf(NotFound)
  })

  it('succeeds with the outcome when time ran out', async () => {
    const { result } = hook<Decided>({ zodSchema: Decision })
    act(() => result.current.request('Slowly.'))
    await client().complete((await asked('Slowly.')).id, { outcome: 'timeout', durationMs: 60_000 })
    await waitFor(() => expect(result.current.status).toBe('success'))
    expect(result.current.data).toEqual({ outcome: 'timeout', response: null, duration: 60_000 })
    expect(result.current.error).toBeNull()
  })

  it('is taken back, also before the server has said its id', async () => {
    const { result } = hook()
    let ended: ReturnType<typeof result.current.requestAsync> | undefined
    act(() => {
      ended = result.current.requestAsync('Never mind.')
      result.current.cancel()
      result.current.cancel()
    })
    expect(await ended).toMatchObject({ outcome: 'cancelled' })
    await waitFor(() => expect(result.current.status).toBe('success'))
    const { sessionId } = result.current
    expect(await client().getInteraction(sessionId ?? '')).toMatchObject({ status: 'cancelled' })
    act(() => result.current.cancel())
    expect(result.current.data?.outcome).toBe('cancelled')
  })

  it('begins anew, and takes back what nobody waits for any more', async () => {
    const { result } = hook()
    let first: ReturnType<typeof result.current.requestAsync> | undefined
    act(() => {
      first = result.current.requestAsync('The old one.')
    })
    const { id } = await asked('The old one.')
    await waitFor(() => expect(result.current.sessionId).toBe(id))
    act(() => {
      result.current.reset()
      result.current.request('The new one.')
    })
    expect(await first).toMatchObject({ outcome: 'cancelled' })
    expect((await client().getInteraction(id)).status).toBe('cancelled')
    // The end of the old one is not shown as that of the new one.
    const { id: other } = await asked('The new one.')
    await waitFor(() => expect(result.current.sessionId).toBe(other))
    expect(result.current.status).toBe('pending')
    act(() => result.current.reset())
    expect(result.current).toMatchObject({ status: 'idle', data: null, sessionId: null })
    await waitFor(async () =>
      expect((await client().getInteraction(other)).status).toBe('cancelled'),
    )
  })

  it('waits for everybody who has to decide', async () => {
    const { result } = hook<Record<string, Decided>>()
    act(() =>
      result.current.request('All of you.', {
        requiredParticipants: ['ada', 'bob'],
        zodSchema: z.record(z.string(), Decision),
      }),
    )
    const { id } = await asked('All of you.')
    const [ada, bob] = [true, false].map((approved) => ({ approved, notes: '' }))
    await client().complete(id, { outcome: 'completed', response: ada, by: 'ada' })
    expect((await client().getInteraction(id)).status).toBe('pending')
    expect(result.current.status).toBe('pending')
    await client().complete(id, { outcome: 'completed', response: bob, by: 'bob' })
    await waitFor(() => expect(result.current.data?.response).toEqual({ ada, bob }))
  })
})

describe('a workflow', () => {
  const answer = async (sessionId: string) => {
    const board = client()
    const { id } = await waitFor(async () => {
      const open = (await board.getSession(sessionId)).pending
      const found = open.find((one) => one.type === 'approval')
      if (!found) throw new Error('The workflow asks nothing yet.')
      return found
    })
    await board.answer(id, { approved: true })
  }

  it('does not complete before what was asked for has ended, or was reset', async () => {
    const board = client()
    const sessionId = await board.createSession('trip', 'Lisbon')
    const { result } = hook({ sessionId })
    act(() => result.current.request('Is Lisbon safe?'))
    const { id } = await asked('Is Lisbon safe?')
    await waitFor(() => expect(result.current.sessionId).toBe(id))
    await answer(sessionId)
    await waitFor(async () => {
      const { phase, status } = await board.getSession(sessionId)
      expect([phase, status]).toEqual(['book', 'waiting'])
    })
    act(() => result.current.reset())
    await waitFor(async () => expect((await board.getSession(sessionId)).status).toBe('completed'))
    const { events } = await board.getEvents(sessionId)
    const tasks = events.filter(({ name }) => name.startsWith('task:'))
    expect(tasks.map(({ name }) => name)).toEqual(['task:started', 'task:completed'])
  })

  it('completes without it when it need not wait, and leaves the question open', async () => {
    const board = client()
    const sessionId = await board.createSession('trip', 'Porto')
    const { result } = hook({ sessionId })
    act(() => result.current.request('Is Porto safe?', { blockOrchestration: false }))
    const { id } = await asked('Is Porto safe?')
    await answer(sessionId)
    await waitFor(async () => expect((await board.getSession(sessionId)).status).toBe('completed'))
    expect(result.current.status).toBe('pending')
    await board.complete(id, { outcome: 'completed', response: 'It is.' })
    await waitFor(() => expect(result.current.data?.response).toBe('It is.'))
  })
})

describe('a record', () => {
  const complained = vi.spyOn(console, 'error')
  afterEach(() => complained.mockClear())

  it('outlives the component that asked', async () => {
    const first = hook()
    act(() => first.result.current.request('Are you still there?'))
    const { id } = await asked('Are you still there?')
    await waitFor(() => expect(first.result.current.sessionId).toBe(id))
    first.unmount()
    await client().complete(id, { outcome: 'completed', response: 'approved', durationMs: 5 })
    expect(first.result.current.status).toBe('pending')

    const second = hook({ attachTo: id }, true)
    expect(second.result.current).toMatchObject({ status: 'pending', sessionId: id })
    await waitFor(() => expect(second.result.current.status).toBe('success'))
    expect(second.result.current.data).toMatchObject({ outcome: 'completed', response: 'approved' })
    expect(complained).not.toHaveBeenCalled()
  })

  it('is watched again from another page while it is open, and can be taken back there', async () => {
    const question = await client().ask({ type: 'interactive_session', prompt: 'Open?' })
    const { result } = hook({ attachTo: question.id }, true)
    expect(() => result.current.request('Another?')).toThrow(PENDING)
    act(() => result.current.cancel())
    await waitFor(() => expect(result.current.data?.outcome).toBe('cancelled'))
  })

  it('of another id takes the place of the first', async () => {
    const ask = (prompt: string) => client().ask({ type: 'interactive_session', prompt })
    const [one, two] = [await ask('One?'), await ask('Two?')]
    const { result, rerender } = hook({ attachTo: one.id })
    rerender({ attachTo: two.id })
    expect(result.current).toMatchObject({ status: 'pending', sessionId: two.id })
    await client().complete(two.id, { outcome: 'completed', response: 'two' })
    await waitFor(() => expect(result.current.data?.response).toBe('two'))
    await client().complete(one.id, { outcome: 'completed', response: 'one' })
    rerender({ attachTo: null })
    expect(result.current.data?.response).toBe('two')
    act(() => result.current.reset())
    rerender({ attachTo: one.id })
    await waitFor(() => expect(result.current.data?.response).toBe('one'))
  })

  it('that is checked when it is found again', async () => {
    const { id } = await client().ask({ type: 'interactive_session', prompt: 'Fits?' })
    await client().complete(id, { outcome: 'completed', response: { approved: 'yes' } })
    const { result } = hook<Decided>({ attachTo: id, zodSchema: Decision })
    await waitFor(() => expect(result.current.error).toBeInstanceOf(ValidationError))
  })

  it('that is not there, or is no interactive session, is an error', async () => {
    const lost = hook({ attachTo: 'no-such-record' })
    await waitFor(() => expect(lost.result.current.error).toBeInstanceOf(NotFound))
    const { id } = await client().ask({ type: 'confirmation', prompt: 'Simple?' })
    await client().answer(id, { approved: true })
    const simple = hook({ attachTo: id })
    await waitFor(() => expect(simple.result.current.error?.message).toContain('confirmation'))
  })

  it('is found by the name that it was asked for under', async () => {
    const first = hook()
    act(() => first.result.current.request('Once?', { key: 'release-7' }))
    const { id } = await asked('Once?')
    await client().complete(id, { outcome: 'completed', response: 'approved' })
    const second = hook()
    act(() => second.result.current.request('Once?', { key: 'release-7' }))
    await waitFor(() => expect(second.result.current.data?.response).toBe('approved'))
    expect(second.result.current.sessionId).toBe(id)
  })

  it('is taken back as soon as the server is there again', async () => {
    const server = new Server()
    await server.start()
    try {
      const { result } = hook({}, false, server.url)
      act(() => result.current.request('Through a crash?'))
      const { id } = await asked('Through a crash?', server.url)
      await waitFor(() => expect(result.current.sessionId).toBe(id))
      await server.kill()
      act(() => result.current.cancel())
      await server.start()
      const board = client(server.url)
      await waitFor(async () => expect((await board.getInteraction(id)).status).toBe('cancelled'))
      await waitFor(() => expect(result.current.data?.outcome).toBe('cancelled'))
    } finally {
      await server.remove()
    }
  })
})
