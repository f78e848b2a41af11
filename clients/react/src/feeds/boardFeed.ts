import type { QueryClient, QueryKey } from '@tanstack/react-query'
import type { CallboardClient } from '../client/client.js'
import type { CallboardError } from '../client/errors.js'
import { isTerminal, type SerializedEvent } from '../client/events.js'
import { changesPlate, isPlateEvent } from '../client/plates.js'
import type { EventStream, StreamStatus } from '../client/stream.js'
import { keys } from '../primitives/keys.js'
import { Batch } from './batch.js'
import { Feed } from './feed.js'

const INTERVAL_MS = 250
// What an agent says while it works changes nothing that a list shows.
const SAID = new Set([
  'text:delta',
  'thinking:delta',
  'tool:called',
  'tool:result',
  'agent:emitted',
])

const MESSAGES = /^(?:message|interrupt)_/

const LISTS = [
  keys.inbox,
  keys.sessions,
  keys.session,
  keys.interaction,
  keys.board,
  keys.plateEvents,
  keys.messages,
  keys.hosts,
]

/** Reads what happens anywhere, and has the lists that it concerns asked for again. */
export class BoardFeed extends Feed {
  private readonly dirty = new Batch<QueryKey>(INTERVAL_MS, (found) => this.refresh(found))
  private readonly readers = new Set<(event: SerializedEvent) => void>()

  constructor(
    private readonly client: CallboardClient,
    private readonly cache: QueryClient,
    forget: () => void,
  ) {
    super(forget)
  }

  /** Called with each event, for as long as the feed is open. */
  onEvent(reader: (event: SerializedEvent) => void): () => void {
    this.readers.add(reader)
    return () => this.readers.delete(reader)
  }

  protected open(): EventStream {
    return this.client.followAll({
      // With the next connection, everything is asked for again.
      onRestart: () => {},
      onEvents: (events) => this.take(events),
      onStatus: (status, error) => this.stands(status, error),
    })
  }

  protected override stands(status: StreamStatus, error: CallboardError | null): void {
    // What happened before the stream was open, no one has told.
    if (status === 'connected') this.dirty.add(LISTS)
    super.stands(status, error)
    if (status === 'connected' || status === 'error') this.update({ isLoaded: true })
  }

  protected closed(): void {
    this.dirty.drop()
  }

  private take(events: ReadonlyArray<SerializedEvent>): void {
    for (const event of events) {
      for (const reader of [...this.readers]) reader(event)
      if (SAID.has(event.name)) continue
      this.dirty.add(concerned(event))
    }
  }

  private refresh(found: ReadonlyArray<QueryKey>): void {
    const distinct = new Map(found.map((key) => [JSON.stringify(key), key]))
    for (const key of distinct.values()) {
      // A request that is under way may be too early; one that is cut off each time never ends.
      const busy = this.cache.isFetching({ queryKey: key }) > 0
      if (busy) this.dirty.add([key])
      else void this.cache.invalidateQueries({ queryKey: key })
    }
  }
}

/** What an event may have changed. */
function concerned(event: SerializedEvent): QueryKey[] {
  if (event.name.startsWith('host_')) return [keys.hosts]
  const changed = changesPlate(event)
  const asks = event.name.startsWith('input:')
  if (!asks && (changed || isPlateEvent(event) || MESSAGES.test(event.name)))
    return ofPlate(event, changed)
  // A title is in a stream of its own, so that also a session that has ended can be renamed.
  const session = event.name === 'session:titled' ? event.payload.sessionId : event.sessionId
  const found: QueryKey[] = [keys.sessions, [...keys.session, session]]
  if (asks) {
    // Plates ask too, and what they ask is part of what happened to them.
    found.push(keys.inbox, [...keys.interaction, event.payload.id], ...ofPlate(event, changed))
  } else if (isTerminal(event) || event.name === 'session:titled') found.push(keys.inbox)
  return found
}

function ofPlate(event: SerializedEvent, changed: boolean): QueryKey[] {
  const found: QueryKey[] = [[...keys.plateEvents, event.sessionId]]
  if (MESSAGES.test(event.name)) found.push([...keys.messages, event.sessionId])
  if (changed) found.push(keys.board)
  return found
}
