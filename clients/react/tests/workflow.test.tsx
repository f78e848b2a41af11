import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { QueryClient, useQuery } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import {
  AlreadyAnswered,
  ServerUnreachable,
  SessionNotFound,
  Unauthenticated,
  useText,
  useWorkflow,
  useWorkflowActions,
  useWorkflowHITL,
} from '../src/index'
import { client, page } from './page'

interface Trip {
  readonly city: string
  readonly plan: ReadonlyArray<string>
}

async function tripTo(city: string) {
  const id = await client().createSession('trip', city)
  const shown = renderHook(() => useWorkflow<Trip>(id), { wrapper: page() })
  await waitFor(() => expect(shown.result.current.pendingInteractions).toHaveLength(1))
  return { id, ...shown }
}

describe("a query of one's own for ['session', id]", () => {
  /** What it shows is old: nothing but an invalidation makes it fetch. */
  function watched(id: string) {
    const queries = new QueryClient({
      defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } },
    })
    queries.setQueryData(['session', id], { status: 'old' })
    const shown = renderHook(
      () => ({
        workflow: useWorkflow<Trip>(id),
        own: useQuery({ queryKey: ['session', id], queryFn: () => client().getSession(id) }),
      }),
      { wrapper: page({ queries }) },
    )
    const shows = (status: string) =>
      waitFor(() => expect(shown.result.current.own.data?.status).toBe(status))
    return { result: shown.result, shows }
  }

  it('is asked again when the workflow pauses, resumes and completes', async () => {
    const { result, shows } = watched(await client().createSession('trip', 'Oslo'))
    await waitFor(() => expect(result.current.workflow.pendingInteractions).toHaveLength(1))
    expect(result.current.own.data?.status).toBe('old')
    await act(() => result.current.workflow.pause())
    await shows('paused')
    await act(() => result.current.workflow.resume())
    await shows('waiting')
    const id = result.current.workflow.pendingInteractions[0]?.id ?? ''
    await act(() => result.current.workflow.send({ id, value: 'yes', approved: true }))
    await shows('completed')
  })

  it('is asked again when the workflow fails', async () => {
    await watched(await client().createSession('broken')).shows('failed')
  })

  it('is asked again when the workflow is cancelled', async () => {
    const { result, shows } = watched(await client().createSession('trip', 'Riga'))
    await waitFor(() => expect(result.current.workflow.pendingInteractions).toHaveLength(1))
    await act(() => result.current.workflow.cancel())
    await shows('cancelled')
  })
})

describe('useWorkflow', () => {
  it('shows the state as it is, without an envelope', async () => {
    const { result } = await tripTo('Rome')
    await waitFor(() => expect(result.current.state?.plan).toEqual(['See Rome', 'Eat']))
    expect(result.current.state).toMatchObject({ city: 'Rome', approved: null })
    expect(result.current).toMatchObject({ status: 'connected', isConnected: true, error: null })
    expect(result.current.events.map((event) => event.position)).toEqual(
      Array.from({ length: result.current.position }, (_, at) => at + 1),
    )
  })

  it('runs again after a pause and a resume', async () => {
    const { result } = await tripTo('Bern')
    expect(result.current).toMatchObject({ isRunning: true, isPaused: false })
    await act(() => result.current.pause())
    await waitFor(() => expect(result.current).toMatchObject({ isRunning: false, isPaused: true }))
    await act(() => result.current.resume())
    await waitFor(() => expect(result.current).toMatchObject({ isRunning: true, isPaused: false }))
  })

  it('stops running when it is cancelled', async () => {
    const { result } = await tripTo('Ulm')
    await act(() => result.current.cancel('changed our minds'))
    await waitFor(() =>
      expect(result.current).toMatchObject({ isRunning: false, isCancelled: true }),
    )
    expect(result.current.pendingInteractions).toEqual([])
    expect(result.current.events.at(-1)?.payload).toMatchObject({ reason: 'changed our minds' })
  })

  it('stops running when it fails', async () => {
    const id = await client().createSession('broken')
    const { result } = renderHook(() => useWorkflow(id), { wrapper: page() })
    await waitFor(() => expect(result.current.isFailed).toBe(true))
    expect(result.current).toMatchObject({ isRunning: false, isCompleted: false })
  })

  it('gives the state at any position and forks there with an edit', async () => {
    const { id, result } = await tripTo('Nice')
    expect(await result.current.stateAt(1)).toMatchObject({ plan: [] })
    const forked = await act(() =>
      result.current.fork(
        { position: result.current.position },
        { edits: [{ op: 'replace', path: '/city', value: 'Cannes' }] },
      ),
    )
    expect(forked.originalSessionId).toBe(id)
    const child = renderHook(() => useWorkflow<Trip>(forked.sessionId), { wrapper: page() })
    await waitFor(() => expect(child.result.current.state?.city).toBe('Cannes'))
    expect(result.current.state?.city).toBe('Nice')
  })

  it('is retried from the failed phase, or from any point with an edit', async () => {
    const id = await client().createSession('delivery')
    const { result } = renderHook(() => useWorkflow(id), { wrapper: page() })
    await waitFor(() => expect(result.current.isFailed).toBe(true))
    const again = await act(() => result.current.retry())
    expect(again.originalSessionId).toBe(id)
    const edits = [{ op: 'replace', path: '/road', value: 'open' }] as const
    const mended = await act(() => result.current.retry({ phase: 'pack' }, { edits }))
    expect(mended.eventsCopied).toBeLessThan(again.eventsCopied)
    const child = renderHook(() => useWorkflow(mended.sessionId), { wrapper: page() })
    await waitFor(() => expect(child.result.current.isCompleted).toBe(true))
  })

  it('is not retried unless it failed', async () => {
    const { id } = await tripTo('Graz')
    await expect(client().retrySession(id)).rejects.toThrow('only a failed one can be retried')
  })

  it('tells who comes second that the question was answered', async () => {
    const { id, result } = await tripTo('Kiel')
    const question = result.current.pendingInteractions[0]?.id ?? ''
    const second = result.current.send
    await act(async () => {
      await client().sendInput(id, { id: question, value: 'yes' })
      await expect(second({ id: question, value: 'no' })).rejects.toThrow(AlreadyAnswered)
    })
    await waitFor(() => expect(result.current.isCompleted).toBe(true))
  })

  it('says so when there is no such session', async () => {
    const { result } = renderHook(() => useWorkflow('nobody'), { wrapper: page() })
    await waitFor(() => expect(result.current.error).toBeInstanceOf(SessionNotFound))
    expect(result.current).toMatchObject({ status: 'error', isLoading: false, isRunning: false })
  })

  it('says so when the token is refused', async () => {
    const wrapper = page({ token: 'cb_of-somebody-else' })
    const { result } = renderHook(() => useWorkflow('any'), { wrapper })
    await waitFor(() => expect(result.current.error).toBeInstanceOf(Unauthenticated))
    expect(result.current.status).toBe('error')
  })

  it('says so when no server answers, and goes on trying', async () => {
    const wrapper = page({ url: 'http://127.0.0.1:1' })
    const { result } = renderHook(() => useWorkflow('any'), { wrapper })
    await waitFor(() => expect(result.current.error).toBeInstanceOf(ServerUnreachable))
    expect(result.current).toMatchObject({ status: 'connecting', isLoading: true })
  })

  it('shows events of a newer server whose names it does not know', async () => {
    const known = { id: 'a', sessionId: 's', causedBy: null, timestamp: '2026-01-31T12:00:00.000Z' }
    const events = ['workflow:started', 'moon:risen', 'workflow:completed'].map((name, at) => ({
      ...known,
      position: at + 1,
      name,
      _tag: name,
      version: 9,
      payload: { of: 'another shape' },
    }))
    // No server of this version writes such names, so one that does is put in its place.
    const newer = createServer((request, answer) => {
      if (request.url?.includes('/state')) {
        answer.end(JSON.stringify({ state: { new: true }, position: 1, eventsReplayed: 1 }))
        return
      }
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of events) {
        answer.write(`id: ${event.position}\ndata: ${JSON.stringify(event)}\n\n`)
      }
    })
    await new Promise<void>((done) => newer.listen(0, '127.0.0.1', done))
    const { port } = newer.address() as AddressInfo
    const wrapper = page({ url: `http://127.0.0.1:${port}` })
    const { result } = renderHook(() => useWorkflow('s'), { wrapper })
    await waitFor(() => expect(result.current.isCompleted).toBe(true))
    expect(result.current.events).toEqual(events)
    await waitFor(() => expect(result.current.state).toEqual({ new: true }))
    newer.closeAllConnections()
    newer.close()
  })

  it('is idle without a session', () => {
    const { result } = renderHook(() => useWorkflow(null), { wrapper: page() })
    expect(result.current).toMatchObject({ status: 'disconnected', isLoading: false, position: 0 })
    expect(() => result.current.pause()).toThrow('No session connected')
  })

  it('shows nothing of one session while it shows another', async () => {
    const [one, two] = [await tripTo('Oslo'), await tripTo('Lima')]
    await waitFor(() => expect(two.result.current.state?.plan).toHaveLength(2))
    const seen: Array<[string, string | undefined]> = []
    const shown = renderHook(
      ({ id }: { id: string }) => {
        const { state } = useWorkflow<Trip>(id)
        seen.push([id, state?.city])
      },
      { wrapper: page(), initialProps: { id: one.id } },
    )
    await waitFor(() => expect(seen).toContainEqual([one.id, 'Oslo']))
    shown.rerender({ id: two.id })
    await waitFor(() => expect(seen).toContainEqual([two.id, 'Lima']))
    const wrong = seen.filter(([id, city]) => city && (id === one.id) !== (city === 'Oslo'))
    expect(wrong).toEqual([])
  })
})

describe('the groups', () => {
  it('begin, answer and forget a session', async () => {
    const wrapper = page({ queries: new QueryClient() })
    const actions = renderHook(() => useWorkflowActions(), { wrapper })
    const id = await act(() => actions.result.current.create('choice', undefined))
    const { result } = renderHook(() => useWorkflowHITL(id), { wrapper })
    await waitFor(() => expect(result.current.pending).toHaveLength(1))
    const [question] = result.current.pending
    expect(question).toMatchObject({ type: 'choice', options: ['left', 'right'] })
    expect(question?.timestamp).toBeInstanceOf(Date)
    await act(() => result.current.respond(id, question?.id ?? '', 'left'))
    await waitFor(() => expect(result.current.pending).toEqual([]))
    await act(() => actions.result.current.remove(id))
    await expect(client().getSession(id)).rejects.toThrow(SessionNotFound)
  })

  it('show what an agent says', async () => {
    const id = await client().createSession('talk', 5)
    const { result } = renderHook(() => useText(id), { wrapper: page() })
    await waitFor(() => expect(result.current).toBe('0 1 2 3 4 '))
  })
})
