import type { QueryClient } from '@tanstack/react-query'
import type { CallboardClient } from '../client/client.js'
import type { CallboardError } from '../client/errors.js'
import type { SerializedEvent } from '../client/events.js'
import type { EventStream, StreamStatus } from '../client/stream.js'
import { summarise } from '../client/summary.js'
import { keys } from '../primitives/keys.js'
import { Batch } from './batch.js'
import { Feed } from './feed.js'

const INTERVAL_MS = 50

// After these, what stands under ['session', id] is out of date, no matter what put it there.
const TURNS = new Set([
  'workflow:completed',
  'workflow:failed',
  'workflow:cancelled',
  'workflow:paused',
  'workflow:resumed',
])

/**
 * Puts a session's events into the cache as they come.
 *
 * The list in the cache is never changed, because React and users compare by identity; each batch
 * makes a new one. That copies one pointer for each event so far, at most 20 times a second, and
 * not once an event: 10,000 events that come together are copied once or twice.
 */
export class SessionFeed extends Feed {
  private readonly batch = new Batch<SerializedEvent>(INTERVAL_MS, (events) => this.append(events))
  private events: ReadonlyArray<SerializedEvent> = []

  constructor(
    private readonly client: CallboardClient,
    private readonly cache: QueryClient,
    private readonly sessionId: string,
    forget: () => void,
  ) {
    super(forget)
  }

  protected open(): EventStream {
    // What an earlier feed has left in the cache need not come again.
    this.events = this.cache.getQueryData(keys.events(this.sessionId)) ?? []
    if (this.events.length > 0) this.update({ isLoaded: true })
    return this.client.follow(this.sessionId, {
      after: summarise(this.events).position,
      lastEvent: this.events[this.events.length - 1]?.id,
      onRestart: () => this.restart(),
      onEvents: (events) => this.batch.add(events),
      onStatus: (status, error) => this.stands(status, error),
    })
  }

  protected override stands(status: StreamStatus, error: CallboardError | null): void {
    if (status === 'connected' && this.state.error) this.mend()
    if (status === 'ended' || status === 'error') {
      this.batch.now()
      super.stands(status, error)
      this.update({ isLoaded: true })
    } else super.stands(status, error)
  }

  protected closed(): void {
    // What came and was not shown yet comes again with the next feed, which starts after the cache.
    this.batch.drop()
  }

  /** The server has lost some of the events: what was made of them is out of date, too. */
  private restart(): void {
    this.batch.drop()
    this.events = []
    this.cache.setQueryData(keys.events(this.sessionId), this.events)
    void this.cache.invalidateQueries({ queryKey: [...keys.session, this.sessionId] })
    void this.cache.invalidateQueries({ queryKey: keys.states(this.sessionId) })
  }

  private append(events: ReadonlyArray<SerializedEvent>): void {
    const before = this.events
    this.events = before.concat(events)
    summarise(this.events, before)
    this.cache.setQueryData(keys.events(this.sessionId), this.events)
    this.update({ isLoaded: true })
    if (events.some((event) => TURNS.has(event.name))) {
      void this.cache.invalidateQueries({ queryKey: [...keys.session, this.sessionId] })
    }
  }

  /** The server is back: ask again for the states that it could not give. */
  private mend(): void {
    void this.cache.refetchQueries({
      queryKey: keys.states(this.sessionId),
      predicate: (query) => query.state.status === 'error',
    })
  }
}
