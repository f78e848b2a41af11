import type { CallboardError } from '../client/errors.js'
import type { EventStream, StreamStatus } from '../client/stream.js'

/** How a connection stands. What has ended is `connected`: nothing of it is missing. */
export type ConnectionStatus = 'connecting' | 'connected' | 'disconnected' | 'error'

/** What components see of a feed beside what it puts into the cache. */
export interface FeedState {
  readonly status: ConnectionStatus
  /** Why it is not connected; a passing one goes when the server is back. */
  readonly error: CallboardError | null
  /** Whether anything has come yet. */
  readonly isLoaded: boolean
}

export const UNREAD: FeedState = { status: 'connecting', error: null, isLoaded: false }

// Long enough for Strict Mode's second mount and for a change of pages, which both let go and
// take up again at once.
const LINGER_MS = 250

/**
 * One stream that any number of components share. The first opens it, the last closes it, a
 * little later in case someone comes back.
 */
export abstract class Feed {
  state: FeedState = UNREAD
  private readonly listeners = new Set<() => void>()
  private stream: EventStream | undefined
  private leaving: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly forget: () => void) {}

  /** Start to read. */
  protected abstract open(): EventStream
  /** No one reads any more. */
  protected abstract closed(): void

  /** Called when `state` changes; keeps the stream open meanwhile. */
  subscribe(listener: () => void): () => void {
    // One function may come twice, and counts twice.
    const own = () => listener()
    this.listeners.add(own)
    clearTimeout(this.leaving)
    this.stream ??= this.open()
    return () => {
      if (this.listeners.delete(own) && this.listeners.size === 0) {
        this.leaving = setTimeout(() => this.close(), LINGER_MS)
      }
    }
  }

  protected update(state: Partial<FeedState>): void {
    const next = { ...this.state, ...state }
    const same =
      next.status === this.state.status &&
      next.error === this.state.error &&
      next.isLoaded === this.state.isLoaded
    if (same) return
    this.state = next
    for (const listener of [...this.listeners]) listener()
  }

  protected stands(status: StreamStatus, error: CallboardError | null): void {
    this.update({ status: status === 'ended' ? 'connected' : status, error })
  }

  private close(): void {
    this.stream?.close()
    this.closed()
    this.forget()
  }
}
