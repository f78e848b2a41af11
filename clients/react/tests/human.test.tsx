import { QueryClient } from '@tanstack/react-query'
import { renderHook, waitFor } from '@testing-library/react'
import { describe, expect, it } from 'vitest'
import { ending } from '../src/feeds/ending'
import { boardFeed } from '../src/feeds/registry'
import { type CallboardClient, InteractionClosed, ServerUnreachable, useHuman } from '../src/index'
import { asked } from './asked'
import { client, page } from './page'

describe('useHuman', () => {
  it('asks for yes or no, an option, or text', async () => {
    const board = client()
    const { result } = renderHook(() => useHuman(), { wrapper: page() })
    const { ask } = result.current

    const approved = ask<boolean>('Deploy to production?', { options: ['Yes', 'No'] })
    await board.answer((await asked('Deploy to production?')).id, { approved: false })
    expect(await approved).toBe(false)

    const choice = ask<string>('Which environment?', {
      options: ['staging', 'production', 'development'],
    })
    await board.answer((await asked('Which environment?')).id, { value: 'staging' })
    expect(await choice).toBe('staging')

    const text = ask<string>('Why?', { input: true })
    await board.answer((await asked('Why?')).id, { value: 'because' })
    expect(await text).toBe('because')
  })

  it('says so when nobody will answer any more', async () => {
    const { result } = renderHook(() => useHuman(), { wrapper: page() })
    const refused = expect(result.current.ask('Anybody?')).rejects.toThrow(InteractionClosed)
    await client().cancelInteraction((await asked('Anybody?')).id)
    await refused
  })

  it('asks within a session, and hears when the session ends without an answer', async () => {
    const board = client()
    const sessionId = await board.createSession('trip', 'Oslo')
    const { result } = renderHook(() => useHuman(), { wrapper: page({ strict: true }) })
    const lost = result.current.ask('Which hotel?', { input: true, sessionId })
    const refused = expect(lost).rejects.toThrow(InteractionClosed)
    expect((await asked('Which hotel?')).sessionId).toBe(sessionId)
    await board.cancel(sessionId)
    await refused
  })

  it('is not left waiting when the session was deleted with its question', async () => {
    const board = client()
    const sessionId = await board.createSession('trip', 'Oslo')
    const { id } = await board.ask({ type: 'input', prompt: 'Which train?', sessionId })
    const feed = boardFeed(board, new QueryClient())
    const told = ending(board, feed, id, new AbortController().signal, 50).then(
      ({ status }) => status,
      (error: Error) => error.name,
    )
    await waitFor(() => expect(feed.state.status).toBe('connected'))
    await board.deleteSession(sessionId)
    // It is cancelled, and gone a moment later.
    expect(['cancelled', 'NotFound']).toContain(await told)
  })
  it('looks again when a look fails while the feed stays connected', async () => {
    const board = client()
    const { id } = await board.ask({ type: 'input', prompt: 'Which platform?' })
    let failures = 0
    const unlucky = Object.assign(Object.create(board) as CallboardClient, {
      async getInteraction(asked: string, signal?: AbortSignal) {
        const found = await board.getInteraction(asked, signal)
        if (found.status === 'pending' || failures > 0) return found
        failures += 1
        throw new ServerUnreachable('the connection was reset')
      },
    })
    const feed = boardFeed(board, new QueryClient())
    const told = ending(unlucky, feed, id, new AbortController().signal, 1_000_000)
    await waitFor(() => expect(feed.state.status).toBe('connected'))
    await board.answer(id, { value: '9' })
    expect((await told).status).toBe('completed')
    expect(failures).toBe(1)
  })
})
