import { act, renderHook, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import {
  AlreadyAnswered,
  Claimed,
  NotFound,
  SessionNotFound,
  useBudget,
  useHosts,
  useInbox,
  useInteraction,
  useSession,
  useSessions,
  useUsage,
  useWorkers,
  useWorkflows,
} from '../src/index'
import { client, page } from './page'

describe('useInbox', () => {
  it('shows questions as they come and go', async () => {
    const board = client()
    const { result } = renderHook(() => useInbox(), { wrapper: page() })
    await waitFor(() => expect(result.current.status).toBe('connected'))
    const { id } = await board.ask({ type: 'confirmation', prompt: 'Is it so?' })
    const here = () => result.current.interactions.find((one) => one.id === id)
    await waitFor(() => expect(here()?.prompt).toBe('Is it so?'))

    await act(() => result.current.claim(id, { by: 'ann' }))
    await waitFor(() => expect(here()?.claimedBy).toBe('ann'))
    await expect(act(() => result.current.claim(id, { by: 'bob' }))).rejects.toThrow(Claimed)

    const { person } = await board.getMe()
    await act(() => result.current.assign(id))
    await waitFor(() => expect(here()?.assignedTo).toEqual([person]))
    await act(() => result.current.assign(id, { to: null }))
    await waitFor(() => expect(here()?.assignedTo).toBeNull())

    const one = renderHook(() => useInteraction(id), { wrapper: page() })
    await waitFor(() => expect(one.result.current.interaction?.status).toBe('pending'))
    await board.answer(id, { approved: true, by: 'ann' })
    await waitFor(() => expect(here()).toBeUndefined())
    await waitFor(() =>
      expect(one.result.current.interaction).toMatchObject({
        answeredBy: 'admin',
        answeredAs: 'ann',
        receipt: 'delivered',
      }),
    )
    await expect(act(() => result.current.answer(id, { approved: false }))).rejects.toThrow(
      AlreadyAnswered,
    )
  })

  it('takes a question back', async () => {
    const { id } = await client().ask({ type: 'input', prompt: 'What now?' })
    const { result } = renderHook(() => useInbox(), { wrapper: page() })
    await waitFor(() => expect(result.current.interactions.map((one) => one.id)).toContain(id))
    const cancelled = await act(() => result.current.cancel(id))
    expect(cancelled.status).toBe('cancelled')
    await waitFor(() => expect(result.current.interactions.map((one) => one.id)).not.toContain(id))
  })
})

describe('useSessions', () => {
  it('reads page by page, and shows a new session by itself', async () => {
    const board = client()
    const ids: string[] = []
    for (let at = 0; at < 3; at += 1) ids.push(await board.createSession('within'))
    const filters = { workflow: 'within', limit: 2 }
    const { result } = renderHook(() => useSessions(filters), { wrapper: page() })
    await waitFor(() => expect(result.current.sessions).toHaveLength(2))
    expect(result.current.hasNextPage).toBe(true)
    act(() => result.current.fetchNextPage())
    await waitFor(() => expect(result.current.sessions).toHaveLength(3))
    expect(result.current.sessions.map((one) => one.sessionId)).toEqual([...ids].reverse())
    await waitFor(() => expect(result.current.status).toBe('connected'))
    const fresh = await board.createSession('within')
    await waitFor(() => expect(result.current.sessions[0]?.sessionId).toBe(fresh))
  })
})

describe('the others', () => {
  it('keep a session current', async () => {
    const board = client()
    const id = await board.createSession('choice')
    const { result } = renderHook(() => useSession(id), { wrapper: page() })
    await waitFor(() => expect(result.current.session?.status).toBe('waiting'))
    await waitFor(() => expect(result.current.status).toBe('connected'))
    await board.answer(result.current.session?.pending[0]?.id ?? '', { value: 'left' })
    await waitFor(() => expect(result.current.session?.status).toBe('completed'))
    await board.deleteSession(id)
    act(() => result.current.refetch())
    await waitFor(() => expect(result.current.error).toBeInstanceOf(SessionNotFound))
  })

  it('list the workflows', async () => {
    const { result } = renderHook(() => useWorkflows(), { wrapper: page() })
    await waitFor(() => expect(result.current.workflows.map((one) => one.id)).toContain('trip'))
    const trip = result.current.workflows.find((one) => one.id === 'trip')
    expect(trip?.edges).toContainEqual({ from: 'plan', to: 'book', taken: 'sometimes' })
  })

  it('list the machines that report, and say which can be reached', async () => {
    const board = client()
    const { result } = renderHook(() => useHosts(), { wrapper: page() })
    const here = () => result.current.hosts.find((one) => one.id === 'machine1')
    const post = (path: string, body: unknown, more: RequestInit = {}) =>
      fetch(`${board.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body), ...more })
    const json = { 'Content-Type': 'application/json' }

    const { code, command, qr } = await board.createPairing({ server: 'https://b.example' })
    expect(command).toBe(`callboard relay --server https://b.example --pair ${code}`)
    expect(qr.every((row) => row.length === qr.length)).toBe(true)
    const machine = { code, host: 'machine1', name: 'ada-mac' }
    const paired = await (await post('/relay/pair', machine, { headers: json })).json()
    const gone = new AbortController()
    const headers = { ...json, Authorization: `Bearer ${paired.token}` }
    await post('/relay/commands', { name: 'ada-mac' }, { headers, signal: gone.signal })
    await waitFor(() => expect(here()).toMatchObject({ name: 'ada-mac', connected: true }))

    gone.abort()
    await waitFor(() => expect(here()?.connected).toBe(false), { timeout: 20_000 })
    await board.removeHost('machine1')
    await waitFor(() => expect(here()).toBeUndefined())
    await expect(board.removeHost('machine1')).rejects.toThrow(NotFound)
  }, 30_000)

  it('list the workers, and who drives a session', async () => {
    const { result } = renderHook(() => useWorkers(), { wrapper: page() })
    await waitFor(() => expect(result.current.overview?.workerCount).toBe(1))
    const [server] = result.current.overview?.workers ?? []
    expect(server?.alive).toBe(true)
    expect(server?.workflows.map((one) => one.name)).toContain('trip')
    await expect(client().getWorkers('nowhere')).rejects.toThrow(SessionNotFound)
  })
})

describe('useUsage', () => {
  it('reports tokens by day and by what they were for', async () => {
    const query = { days: 7, split: 'model', utcOffset: 60 } as const
    const { result } = renderHook(() => useUsage(query), { wrapper: page() })
    await waitFor(() => expect(result.current.data?.rows).toHaveLength(7))
    expect(result.current.data).toMatchObject({ by: 'day', days: 7, limited: false })
    expect(result.current.data?.pricesDate).toMatch(/^\d{4}-\d\d-\d\d$/)
    const other = { by: 'project', stream: 'nowhere' } as const
    const one = renderHook(() => useUsage(other), { wrapper: page() })
    await waitFor(() => expect(one.result.current.data?.rows).toEqual([]))
    await expect(client().getUsage({ days: 0 })).rejects.toThrow('days')
  })
})

describe('useBudget', () => {
  it('sets the budget and takes it away', async () => {
    const { result } = renderHook(() => useBudget(), { wrapper: page() })
    await waitFor(() => expect(result.current.budget).toMatchObject({ daily: null, limit: null }))
    await act(() => result.current.setBudget(1000.5, 120))
    await waitFor(() =>
      expect(result.current.budget).toMatchObject({ daily: 1000.5, limit: 1000.5, utcOffset: 120 }),
    )
    await expect(act(() => result.current.setBudget(-1))).rejects.toThrow('daily')
    await act(() => result.current.setBudget(null))
    await waitFor(() => expect(result.current.budget?.daily).toBeNull())
  })
})
