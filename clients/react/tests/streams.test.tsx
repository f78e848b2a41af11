import { QueryClient } from '@tanstack/react-query'
import { renderHook, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  SessionNotFound,
  Unauthenticated,
  type UseWorkflowResult,
  useHuman,
  useInbox,
  useSessions,
  useWorkflow,
  useWorkflowData,
  useWorkflowHITL,
} from '../src/index'
import { client, Door, page } from './page'
import { Server } from './serving'

interface Trip {
  readonly city: string
}

let server: Server
let door: Door

beforeEach(async () => {
  server = new Server()
  await server.start()
  door = await new Door(server.port).start()
})

afterEach(async () => {
  await door.close()
  await server.remove()
})

function positions({ current }: { readonly current: UseWorkflowResult<unknown> }): number[] {
  return current.events.map((event) => event.position)
}

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, at) => at + 1)
}

async function askedOf(id: string): Promise<string> {
  for await (const event of client(server.url).tail(id)) {
    if (event.name === 'input:requested') return String(event.payload.id)
  }
  throw new Error('Nothing was asked.')
}

describe('the stream of a session', () => {
  it('is one for all components, and closed with the last', async () => {
    const id = await client(server.url).createSession('trip', 'Rome')
    const wrapper = page({ url: door.url })
    const first = renderHook(() => [useWorkflow(id), useWorkflow(id), useWorkflowData(id)], {
      wrapper,
    })
    const second = renderHook(() => useWorkflowHITL(id), { wrapper })
    await waitFor(() => expect(second.result.current.pending).toHaveLength(1))
    expect([door.streams, door.open]).toEqual([1, 1])
    first.unmount()
    await waitFor(() => expect(second.result.current.pending).toHaveLength(1))
    second.unmount()
    await waitFor(() => expect(door.open).toBe(0))
    expect(door.streams).toBe(1)
  })

  it('is opened once in Strict Mode', async () => {
    const id = await client(server.url).createSession('trip', 'Rome')
    const wrapper = page({ url: door.url, strict: true })
    const { result, unmount } = renderHook(() => useWorkflow(id), { wrapper })
    await waitFor(() => expect(result.current.pendingInteractions).toHaveLength(1))
    expect(door.streams).toBe(1)
    expect(positions(result)).toEqual(upTo(result.current.position))
    unmount()
    await waitFor(() => expect(door.open).toBe(0))
  })

  it('goes on after a remount where the cache ends', async () => {
    const board = client(server.url)
    const id = await board.createSession('trip', 'Rome')
    const queries = new QueryClient()
    const wrapper = page({ url: door.url, queries })
    const first = renderHook(() => useWorkflow(id), { wrapper })
    await waitFor(() => expect(first.result.current.pendingInteractions).toHaveLength(1))
    await waitFor(() => expect(first.result.current.isLoading).toBe(false))
    const before = first.result.current.events
    first.unmount()
    await waitFor(() => expect(door.open).toBe(0))

    await board.answer(await askedOf(id), { value: 'yes' })
    const second = renderHook(() => useWorkflow(id), { wrapper })
    expect(second.result.current.events).toBe(before)
    expect(second.result.current.isLoading).toBe(false)
    await waitFor(() => expect(second.result.current.isCompleted).toBe(true))
    expect(positions(second.result)).toEqual(upTo((await board.getSession(id)).position))
    // The events of before are the same objects: they did not come again.
    expect(second.result.current.events.slice(0, before.length)).toEqual(before)
    expect(second.result.current.events[0]).toBe(before[0])
  })

  it('loses and repeats nothing when the connection is cut again and again', async () => {
    const board = client(server.url)
    // Enough to count that it is still at it when the connection was cut three times.
    const id = await board.createSession('count', 500)
    const { result } = renderHook(() => useWorkflow(id), { wrapper: page({ url: door.url }) })
    for (let time = 1; time <= 3; time += 1) {
      await waitFor(() => expect(door.open).toBe(1))
      door.slam()
      await waitFor(() => expect(door.open).toBe(0))
    }
    await waitFor(() => expect(result.current.isCompleted).toBe(true))
    expect(positions(result)).toEqual(upTo((await board.getSession(id)).position))
  })

  it('says that the server is away, and goes on when it is back', async () => {
    const board = client(server.url)
    const id = await board.createSession('trip', 'Rome')
    const wrapper = page({ url: server.url })
    const { result } = renderHook(() => useWorkflow<Trip>(id), { wrapper })
    const inbox = renderHook(() => useInbox(), { wrapper })
    const sessions = renderHook(() => useSessions(), { wrapper })
    await waitFor(() => expect(result.current.state?.city).toBe('Rome'))
    await waitFor(() => expect(inbox.result.current.interactions).toHaveLength(1))
    await waitFor(() => expect(inbox.result.current.status).toBe('connected'))

    await server.kill()
    await waitFor(() => expect(result.current.status).toBe('disconnected'))
    await waitFor(() => expect(inbox.result.current.status).toBe('disconnected'))
    expect(result.current.error?.message).toMatch(/does not answer|connection was lost/)
    expect(result.current.state?.city).toBe('Rome')

    await server.start()
    await board.answer(await askedOf(id), { value: 'yes' })
    await waitFor(() => expect(result.current.isCompleted).toBe(true))
    expect(result.current).toMatchObject({ status: 'connected', error: null })
    expect(positions(result)).toEqual(upTo((await board.getSession(id)).position))
    await waitFor(() => expect(inbox.result.current.interactions).toEqual([]))
    await waitFor(() => expect(sessions.result.current.sessions[0]?.status).toBe('completed'))
  })

  it('stops and says so when the token is revoked', async () => {
    const made = await server.command(
      'token', 'create', '--name=eve', '--scope=read', `--db=${server.database}`, '--json',
    ) // biome-ignore format: one command
    const { token, id: tokenId } = JSON.parse(made) as { token: string; id: string }
    const id = await client(server.url).createSession('trip', 'Rome')
    const wrapper = page({ url: door.url, token })
    const { result } = renderHook(() => useWorkflow<Trip>(id), { wrapper })
    await waitFor(() => expect(result.current.state?.city).toBe('Rome'))
    await server.command('token', 'revoke', tokenId, `--db=${server.database}`)
    door.slam()
    await waitFor(() => expect(result.current.error).toBeInstanceOf(Unauthenticated))
    expect(result.current.status).toBe('error')
    expect(result.current.state?.city).toBe('Rome')
    expect(door.streams).toBe(2)
  })

  it('says so when the session is deleted', async () => {
    const board = client(server.url)
    const id = await board.createSession('trip', 'Rome')
    const { result } = renderHook(() => useWorkflow<Trip>(id), {
      wrapper: page({ url: server.url }),
    })
    await waitFor(() => expect(result.current.pendingInteractions).toHaveLength(1))
    await board.deleteSession(id)
    await waitFor(() => expect(result.current.isRunning).toBe(false))
    const again = renderHook(() => useWorkflow(id), { wrapper: page({ url: server.url }) })
    await waitFor(() => expect(again.result.current.error).toBeInstanceOf(SessionNotFound))
  })
})

describe('the stream of everything', () => {
  it('is one for all lists and for whoever asks, and closed with the last', async () => {
    const board = client(server.url)
    const wrapper = page({ url: door.url, strict: true })
    const lists = renderHook(() => [useInbox(), useSessions()] as const, { wrapper })
    const human = renderHook(() => useHuman(), { wrapper })
    void human.result.current.ask('Anybody?')
    await waitFor(() => expect(lists.result.current[0].interactions).toHaveLength(1))
    const id = await board.createSession('choice')
    await waitFor(() => expect(lists.result.current[0].interactions).toHaveLength(2))
    await waitFor(() => expect(lists.result.current[1].sessions[0]?.sessionId).toBe(id))
    expect([door.streams, door.open]).toEqual([1, 1])
    lists.unmount()
    human.unmount()
    await waitFor(() => expect(door.open).toBe(0))
    expect(door.streams).toBe(1)
  })
})
