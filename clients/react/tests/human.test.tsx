import { act, renderHook, waitFor } from '@testing-library/react'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { InteractionClosed, useHuman, useHumanInteractive, ValidationError } from '../src/index'
import { client, page } from './page'

/** The question with this prompt, as soon as it is asked. */
async function asked(prompt: string) {
  const board = client()
  return await waitFor(async () => {
    const open = await board.listInteractions({ status: 'pending' })
    const found = open.find((one) => one.prompt === prompt)
    if (!found) throw new Error(`Nobody asks ${prompt}`)
    return found
  })
}

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
    const lost = result.current.ask('Anybody?')
    await client().cancelInteraction((await asked('Anybody?')).id)
    await expect(lost).rejects.toThrow(InteractionClosed)
  })
})

const Decision = z.object({ approved: z.boolean(), notes: z.string() })
type Decided = z.infer<typeof Decision>

describe('useHumanInteractive', () => {
  it('asks, waits, and checks the response', async () => {
    const { result } = renderHook(() => useHumanInteractive<Decided>(), {
      wrapper: page({ strict: true }),
    })
    expect(result.current).toMatchObject({ status: 'idle', data: null, sessionId: null })
    let ended: ReturnType<typeof result.current.requestAsync> | undefined
    act(() => {
      ended = result.current.requestAsync('Review the findings.', {
        context: { severity: 'high' },
        outcomeSchema: { type: 'structured', jsonSchema: { type: 'object' } },
        zodSchema: Decision,
        captureTranscript: true,
      })
    })
    await waitFor(() => expect(result.current.sessionId).not.toBeNull())
    expect(result.current.status).toBe('pending')
    expect(() => result.current.request('Another?')).toThrow('already pending')
    const question = await asked('Review the findings.')
    expect(question).toMatchObject({ type: 'interactive_session', id: result.current.sessionId })
    expect(question.config).not.toHaveProperty('zodSchema')
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

  it('says so when the response does not fit', async () => {
    const { result } = renderHook(() => useHumanInteractive<Decided>(), { wrapper: page() })
    act(() => result.current.request('Judge.', { zodSchema: Decision }))
    await client().complete((await asked('Judge.')).id, { outcome: 'completed', response: 'no' })
    await waitFor(() => expect(result.current.status).toBe('error'))
    expect(result.current.error).toBeInstanceOf(ValidationError)
    expect(result.current.data).toBeNull()
  })

  it('rejects when the session failed, and succeeds with the outcome when it was cancelled', async () => {
    const { result } = renderHook(() => useHumanInteractive(), { wrapper: page() })
    act(() => result.current.request('Fail.'))
    await client().complete((await asked('Fail.')).id, { outcome: 'failed', error: 'out of tea' })
    await waitFor(() => expect(result.current.error?.message).toBe('out of tea'))
    expect(result.current.status).toBe('error')

    act(() => result.current.request('Never mind.'))
    await asked('Never mind.')
    await waitFor(() => expect(result.current.sessionId).not.toBeNull())
    act(() => result.current.cancel())
    await waitFor(() => expect(result.current.status).toBe('success'))
    expect(result.current.data?.outcome).toBe('cancelled')
  })
})
