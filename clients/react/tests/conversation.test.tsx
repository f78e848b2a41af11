import { act, renderHook, waitFor } from '@testing-library/react'
import { describe, expect, inject, it } from 'vitest'
import { withUsage } from '../src/client/conversation'
import {
  type ConversationItem,
  type ConversationPage,
  mergeConversation,
  NotFound,
  useConversation,
} from '../src/index'
import { client, page } from './page'
import { TOKEN } from './serving'
import { Transcript } from './transcripts'

/** A plate whose session has this transcript. */
async function plateOf({ session, path }: Transcript): Promise<string> {
  const told = { session_id: session, cwd: '/home/u/proj', transcript_path: path }
  const heard = await fetch(`${inject('url')}/hooks/claude`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ ...told, hook_event_name: 'SessionStart', source: 'startup' }),
  })
  expect(heard.status).toBe(200)
  const plates = await client().listPlates()
  return plates.find((one) => one.sessionId === session)?.plateId ?? ''
}

function reading(plateId: string, options = {}) {
  const { result } = renderHook(() => useConversation(plateId, options), { wrapper: page() })
  const texts = () => result.current.items.map((one) => one.text || one.tool?.command)
  return { result, texts }
}

describe('useConversation', () => {
  it('has what was said, and what follows while it is read', async () => {
    const transcript = new Transcript()
    transcript.prompt('Write it')
    transcript.call('call-1', 'make test')
    const { result, texts } = reading(await plateOf(transcript))
    await waitFor(() => expect(texts()).toEqual(['Write it', 'make test']))
    expect(result.current.items[1]?.tool).toMatchObject({ status: 'running', result: null })
    transcript.result('call-1', '3 passed')
    await waitFor(() =>
      expect(result.current.items[1]?.tool).toMatchObject({
        ...{ name: 'Bash', command: 'make test', status: 'done', result: '3 passed' },
      }),
    )
    transcript.reply('Done.')
    await waitFor(() => expect(texts()).toEqual(['Write it', 'make test', 'Done.']))
    expect(result.current).toMatchObject({ hasPreviousPage: false, hasNextPage: false })
  })

  it('reads back to the start, and from a place on forward', async () => {
    const transcript = new Transcript()
    const all = Array.from({ length: 250 }, (_, number) => `Message ${number}`)
    for (const text of all) transcript.prompt(text)
    const plateId = await plateOf(transcript)
    const { result, texts } = reading(plateId)
    await waitFor(() => expect(texts()).toEqual(all.slice(-100)))
    await waitFor(() => {
      result.current.fetchPreviousPage()
      expect(result.current.hasPreviousPage).toBe(false)
    })
    expect(texts()).toEqual(all)

    const { found } = await client().searchConversation(plateId, 'message 42')
    expect(found.map((one) => one.excerpt)).toEqual(['Message 42'])
    act(() => result.current.jump(found[0]?.atCursor ?? null))
    await waitFor(() => expect(texts().at(-1)).toBe('Message 42'))
    expect(result.current.hasNextPage).toBe(true)
    await waitFor(() => {
      result.current.fetchNextPage()
      expect(result.current.hasNextPage).toBe(false)
    })
    expect(texts()).toEqual(all)
    transcript.prompt('One more')
    await waitFor(() => expect(texts().at(-1)).toBe('One more'))
    const last = result.current.items[0]
    const cursor = result.current.cursorOf(last?.id ?? '') ?? ''
    expect(await client().getConversationItem(plateId, last?.id ?? '', { cursor })).toEqual(last)
  })

  it('starts over when the transcript was rewritten', async () => {
    const transcript = new Transcript()
    transcript.prompt('One thing')
    transcript.reply('This was said before.')
    const { texts } = reading(await plateOf(transcript))
    await waitFor(() => expect(texts()).toHaveLength(2))
    transcript.rewrite('Another')
    await waitFor(() => expect(texts()).toEqual(['Another']))
  })

  it('goes on when a transcript that was removed is there again', async () => {
    const transcript = new Transcript()
    transcript.prompt('Before')
    const { result, texts } = reading(await plateOf(transcript))
    await waitFor(() => expect(texts()).toEqual(['Before']))
    transcript.remove()
    await waitFor(() => expect(result.current.error).toBeInstanceOf(NotFound))
    transcript.prompt('After')
    await waitFor(() => expect(texts()).toEqual(['After']), { timeout: 10_000 })
    expect(result.current.error).toBeNull()
  })

  it('says that there is no transcript, and reads it once there is', async () => {
    const transcript = new Transcript()
    const plateId = await plateOf(transcript)
    const { result } = reading('no-such-plate')
    await waitFor(() => expect(result.current.error).toBeInstanceOf(NotFound))
    expect(result.current.isLoading).toBe(false)
    const empty = reading(plateId)
    await waitFor(() => expect(empty.result.current.isLoading).toBe(false))
    transcript.prompt('Now')
    await waitFor(() => expect(empty.texts()).toEqual(['Now']))
  })
})

function told(id: string, text: string, tool?: Partial<ConversationItem['tool']>) {
  const item = { id, text, at: null, kind: 'tool', author: 'model', images: [], cut: false }
  return (tool ? { ...item, tool } : item) as unknown as ConversationItem
}

function pageOf(items: ConversationItem[], before: string | null, after: string): ConversationPage {
  return { items, before, after, restarted: false }
}

describe('mergeConversation', () => {
  const call = told('c', '', { name: 'Bash', command: 'ls', result: null, edits: [] })
  const result = told('c', '', { name: '', command: null, result: 'a b', edits: [] })

  it('joins a result with its call, whichever page came first', () => {
    const forward = mergeConversation(
      mergeConversation(null, pageOf([call], '1', '2')),
      pageOf([result], '2', '3'),
    )
    const back = mergeConversation(
      mergeConversation(null, pageOf([result], '2', '3')),
      pageOf([call], '1', '2'),
      'before',
    )
    for (const part of [forward, back]) {
      expect(part.items).toMatchObject([{ tool: { name: 'Bash', command: 'ls', result: 'a b' } }])
      expect(part).toMatchObject({ before: '1', after: '3' })
      expect(part.cursors.get('c')).toBe('3')
    }
  })

  it('replaces an item that has grown, in its place', () => {
    const first = mergeConversation(null, pageOf([told('a', 'One'), told('b', 'Two')], null, '2'))
    const next = mergeConversation(first, pageOf([told('a', 'One more')], '2', '3'))
    expect(next.items.map(({ text }) => text)).toEqual(['One more', 'Two'])
  })
})

describe('withUsage', () => {
  const used = (call: string, cost: number | null = null) =>
    ({
      ...{ model: 'm', inputTokens: 5, outputTokens: 3, cacheReadTokens: 0 },
      ...{ cacheWriteTokens: 0, longCacheWriteTokens: 0, cost, call },
    }) as const
  const says = (id: string, usage: ReturnType<typeof used> | null = null): ConversationItem => ({
    ...told(id, id),
    ...{ kind: 'reply', author: 'model', usage },
  })
  const apart = (id: string, call: string): ConversationItem => ({
    ...told(id, ''),
    ...{ kind: 'usage', author: 'model', usage: used(call) },
  })

  it('gives what a call took to the message before it', () => {
    const asked: ConversationItem = { ...told('p', 'Go'), author: 'person' }
    const items = [asked, apart('u0', 'c0'), says('a'), apart('u1', 'c1')]
    const steps = withUsage(items)
    expect(steps.map(({ id, usage }) => [id, usage?.call])).toEqual([
      ['p', undefined],
      ['a', 'c1'],
    ])
    expect(withUsage(items)[1]).toBe(steps[1])
  })

  it('has a call once, with its last message', () => {
    const steps = withUsage([says('a', used('c')), says('b', used('c', 0.5))])
    expect(steps.map(({ usage }) => usage?.cost ?? null)).toEqual([null, 0.5])
  })
})
