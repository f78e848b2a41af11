import { renderHook, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { useText, useWorkflow } from '../src/index'
import { client, page } from './page'

const MANY = 10_000

it('takes 10,000 events in few renders, each event once, and asks for few states', async () => {
  const board = client()
  const id = await board.createSession('chatter', MANY)
  for await (const event of board.tail(id)) expect(event.sessionId).toBe(id)
  const asked: string[] = []
  const real = globalThis.fetch
  globalThis.fetch = (input, init) => {
    asked.push(String(input))
    return real(input, init)
  }
  try {
    let renders = 0
    const { result } = renderHook(
      () => {
        renders += 1
        return useWorkflow(id)
      },
      { wrapper: page() },
    )
    await waitFor(() => expect(result.current.isCompleted).toBe(true))
    await waitFor(() => expect(result.current.state).toMatchObject({ words: MANY }))
    expect(result.current.events.length).toBeGreaterThan(MANY)
    expect(new Set(result.current.events.map((event) => event.position)).size).toBe(
      result.current.events.length,
    )
    // One for each batch, and a few for the state; were it one an event, it would be 10,000.
    expect(renders).toBeLessThan(100)
    expect(asked.filter((url) => url.includes('/state')).length).toBeLessThan(10)
    expect(asked.length).toBeLessThan(20)
  } finally {
    globalThis.fetch = real
  }
})

it('shows events while they happen', async () => {
  const id = await client().createSession('chatter', 2000)
  const seen = new Set<number>()
  const { result } = renderHook(
    () => {
      useText(id)
      const shown = useWorkflow(id)
      seen.add(shown.events.length)
      return shown
    },
    { wrapper: page({ strict: true }) },
  )
  await waitFor(() => expect(result.current.isCompleted).toBe(true))
  const { position } = await client().getSession(id)
  expect(result.current.events.map((event) => event.position)).toEqual(
    Array.from({ length: position }, (_, at) => at + 1),
  )
  expect(seen.size).toBeGreaterThan(2)
})
