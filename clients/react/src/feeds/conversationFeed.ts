import { Backoff, pause } from '../client/backoff.js'
import type { CallboardClient } from '../client/client.js'
import {
  type ConversationPart,
  type ConversationQuery,
  mergeConversation,
} from '../client/conversation.js'
import { CallboardError, isPassing } from '../client/errors.js'
import type { ConversationPage } from '../client/wire.js'

/** What is known of a conversation. */
export interface ConversationState {
  /** null: nothing has been read yet. */
  readonly part: ConversationPart | null
  readonly isLoading: boolean
  readonly isFetchingPreviousPage: boolean
  readonly isFetchingNextPage: boolean
  /** Whether the part reaches to the end of the conversation, and follows it. */
  readonly isAtEnd: boolean
  readonly error: Error | null
}

export const UNREAD_CONVERSATION: ConversationState = {
  part: null,
  isLoading: true,
  isFetchingPreviousPage: false,
  isFetchingNextPage: false,
  isAtEnd: false,
  error: null,
}

export interface ConversationOptions {
  readonly subagent?: string | undefined
  /** Whether it is followed as it grows. */
  readonly live?: boolean | undefined
  /** Where the part that is read first ends, instead of at the end. */
  readonly at?: string | null | undefined
}

const PAGE = 100
const WAIT_MS = 20_000
/** After how long a transcript is looked for that can no longer be read. */
const AGAIN_MS = 3000
// Strict Mode lets go and takes up again at once.
const LINGER_MS = 250

/** Reads a conversation: its end, more on either side when asked, and what is added to it. */
export class ConversationFeed {
  state = UNREAD_CONVERSATION
  private readonly listeners = new Set<() => void>()
  private stop: AbortController | null = null
  private leaving: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly client: CallboardClient,
    private readonly plateId: string,
    private readonly options: ConversationOptions,
  ) {}

  /** Called when `state` changes; reads meanwhile. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    clearTimeout(this.leaving)
    if (!this.stop) this.start(this.options.at ?? null)
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.leaving = setTimeout(() => this.close(), LINGER_MS)
    }
  }

  /** Show another part: the one that ends at a cursor, or the end of the conversation. */
  readonly jump = (cursor: string | null): void => {
    this.update({ ...UNREAD_CONVERSATION })
    this.start(cursor)
  }

  /** Read on after an error, or read again what could not be read. */
  readonly refetch = (): void => {
    if (this.state.part) this.resume()
    else this.jump(this.options.at ?? null)
  }

  readonly fetchPreviousPage = (): void => {
    const { part, isFetchingPreviousPage } = this.state
    if (!part?.before || isFetchingPreviousPage || !this.stop) return
    void this.more('before', { before: part.before }, this.stop.signal)
  }

  readonly fetchNextPage = (): void => {
    const { part, isAtEnd, isFetchingNextPage } = this.state
    if (!part || isAtEnd || isFetchingNextPage || !this.stop) return
    void this.more('after', { after: part.after }, this.stop.signal)
  }

  private close(): void {
    this.stop?.abort()
    this.stop = null
  }

  private start(cursor: string | null): void {
    this.close()
    this.stop = new AbortController()
    void this.first(cursor, this.stop.signal)
  }

  /** Follow again what was followed. */
  private resume(): void {
    this.close()
    this.stop = new AbortController()
    this.update({ error: null })
    if (this.state.isAtEnd) void this.follow(this.stop.signal)
  }

  private async first(cursor: string | null, signal: AbortSignal): Promise<void> {
    // What was read before is continued, unless it was left elsewhere.
    if (this.state.part && cursor === null && this.state.isAtEnd) return this.follow(signal)
    const page = await this.read(cursor === null ? {} : { before: cursor }, signal)
    if (!page) return
    this.update({
      part: mergeConversation(null, page),
      ...{ isLoading: false, isAtEnd: cursor === null || page.restarted, error: null },
    })
    if (this.state.isAtEnd) await this.follow(signal)
  }

  private async more(
    side: 'before' | 'after',
    query: ConversationQuery,
    signal: AbortSignal,
  ): Promise<void> {
    const fetching = side === 'before' ? 'isFetchingPreviousPage' : 'isFetchingNextPage'
    this.update({ [fetching]: true })
    const page = await this.read(query, signal)
    if (!page) return
    const isLast = side === 'after' && page.after === query.after
    const isAtEnd = this.state.isAtEnd || page.restarted || isLast
    const starts = isAtEnd && !this.state.isAtEnd
    this.take(page, side, { [fetching]: false, isAtEnd, error: null })
    if (starts) await this.follow(signal)
  }

  /** Take what is added, as long as anyone reads. */
  private async follow(signal: AbortSignal): Promise<void> {
    if (this.options.live === false) return
    while (!signal.aborted) {
      await visible(signal)
      const after = this.state.part?.after
      if (after === undefined || signal.aborted) return
      const page = await this.read({ after, wait: WAIT_MS }, signal)
      if (page) this.take(page, 'after', { error: null })
      else if (isUnreadable(this.state.error)) await pause(AGAIN_MS, signal)
      else return
    }
  }

  /** A page; null once no one waits for it, or when it can't be had. */
  private async read(
    query: ConversationQuery,
    signal: AbortSignal,
  ): Promise<ConversationPage | null> {
    const backoff = new Backoff()
    const { subagent } = this.options
    while (!signal.aborted) {
      try {
        const page = await this.client.getConversation(
          this.plateId,
          { limit: PAGE, subagent, ...query },
          signal,
        )
        return signal.aborted ? null : page
      } catch (error) {
        if (signal.aborted) return null
        this.failed(error)
        if (!isPassing(error)) return null
      }
      await pause(backoff.step(), signal)
    }
    return null
  }

  private failed(error: unknown): void {
    const known = error instanceof Error ? error : new Error(String(error))
    const passing = isPassing(error)
    this.update({
      error: known,
      ...(passing
        ? {}
        : { isLoading: false, isFetchingPreviousPage: false, isFetchingNextPage: false }),
    })
  }

  private take(
    page: ConversationPage,
    side: 'before' | 'after',
    change: Partial<ConversationState>,
  ): void {
    const { part } = this.state
    const isNews = page.restarted || page.items.length > 0 || side === 'before'
    const known = part && !isNews ? { ...part, after: page.after } : null
    this.update({ ...change, part: known ?? mergeConversation(part, page, side) })
  }

  private update(change: Partial<ConversationState>): void {
    const next = { ...this.state, ...change }
    const keys = Object.keys(change) as Array<keyof ConversationState>
    if (keys.every((key) => next[key] === this.state[key])) return
    this.state = next
    for (const listener of [...this.listeners]) listener()
  }
}

/** Whether a transcript is gone, or can't be read at the moment: it may be there again. */
function isUnreadable(error: Error | null): boolean {
  return error instanceof CallboardError && error.code === 'TRANSCRIPT_UNREADABLE'
}

/** Wait while the page is in the background: browsers open few connections to one server. */
function visible(signal: AbortSignal): Promise<void> {
  const page = globalThis.document
  if (page?.visibilityState !== 'hidden' || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const look = () => {
      if (page.visibilityState === 'hidden' && !signal.aborted) return
      page.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    page.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
  })
}
