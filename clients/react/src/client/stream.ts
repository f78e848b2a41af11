import { Backoff, pause } from './backoff.js'
import {
  CallboardError,
  HistoryChanged,
  isPassing,
  ServerFailed,
  ServerUnreachable,
} from './errors.js'
import { isTerminal, type SerializedEvent } from './events.js'
import { type Frame, FrameParser } from './parser.js'

/** How a stream stands; `disconnected` means that it is trying to come back. */
export type StreamStatus = 'connecting' | 'connected' | 'disconnected' | 'ended' | 'error'

/** What the reader of a stream is told. */
export interface StreamListener {
  /** Events in their order, each once; those that came together are given together. */
  readonly onEvents: (events: ReadonlyArray<SerializedEvent>) => void
  /** How the stream stands. With `disconnected` and `error` comes why. */
  readonly onStatus?: (status: StreamStatus, error: CallboardError | null) => void
  /**
   * Drop what came so far: the server has lost some of it, and what it has comes again from the start, or in the
   * stream of all sessions from now on. Without this, the stream ends with a `HistoryChanged` error.
   */
  readonly onRestart?: (() => void) | undefined
}

/** How to read a stream. */
export interface StreamOptions extends StreamListener {
  /** Only events after this position. */
  readonly after?: number | undefined
  /** The id of the event at that position, so that the server can tell whether it still has it. */
  readonly lastEvent?: string | undefined
  /** How long silence may last before the connection counts as lost, in milliseconds. */
  readonly quietMs?: number | undefined
}

/** Opens a connection that starts after a place, where this event was. */
export type Open = (
  after: string,
  lastEvent: string | undefined,
  signal: AbortSignal,
) => Promise<Response>

// The server says something at least every 15 s.
const QUIET_MS = 40_000
const STEADY_MS = 5_000

/**
 * Reads a stream until its end, over as many connections as that takes.
 *
 * It comes back with the id of the last frame, so nothing is lost, and drops what it has seen, so
 * nothing is told twice. It stops at a terminal event, at an answer of 204, and at an error that
 * trying again will not mend, such as a token that is refused.
 */
export class EventStream {
  private readonly closing = new AbortController()
  private readonly backoff = new Backoff()
  private parsed: FrameParser
  private place: number
  private lastEvent: string | undefined
  private status: StreamStatus | undefined

  constructor(
    private readonly open: Open,
    private readonly options: StreamOptions,
    /** Whether a terminal event ends it; the stream of all sessions has no end. */
    private readonly ends: boolean,
  ) {
    this.place = options.after ?? 0
    this.lastEvent = options.lastEvent
    this.parsed = new FrameParser(options.after === undefined ? '' : String(options.after))
    void this.run()
  }

  /** Stop reading; no one is told anything after this. */
  close(): void {
    this.closing.abort()
  }

  private async run(): Promise<void> {
    this.tell('connecting', null)
    const { signal } = this.closing
    while (!signal.aborted) {
      const startedAt = Date.now()
      try {
        if (await this.connection()) return this.tell('ended', null)
        this.lost(new ServerUnreachable('The connection was lost.', 'SERVER_UNREACHABLE'))
      } catch (error) {
        if (!this.survives(asKnown(error))) return
      }
      if (Date.now() - startedAt > STEADY_MS) this.backoff.reset()
      await pause(this.backoff.step(), signal)
    }
  }

  /** Whether to try again after an error. */
  private survives(error: CallboardError): boolean {
    if (this.closing.signal.aborted) return false
    if (error instanceof HistoryChanged && this.options.onRestart) {
      this.restart(this.options.onRestart)
      return true
    }
    if (isPassing(error)) this.lost(error)
    else this.tell('error', error)
    return isPassing(error)
  }

  private restart(onRestart: () => void): void {
    this.place = 0
    this.lastEvent = undefined
    this.parsed = new FrameParser('')
    onRestart()
  }

  private lost(error: CallboardError): void {
    // Until the first connection there is nothing that could have been lost.
    this.tell(this.status === 'connecting' ? 'connecting' : 'disconnected', error)
  }

  /** Read one connection; true when the stream is over. */
  private async connection(): Promise<boolean> {
    const own = new AbortController()
    const leave = () => own.abort()
    this.closing.signal.addEventListener('abort', leave)
    const watch = new Watch(this.options.quietMs ?? QUIET_MS, leave)
    try {
      const answer = await this.open(this.parsed.lastId, this.lastEvent, own.signal)
      if (answer.status === 204) return true
      const body = bodyOf(answer)
      this.lastEvent ??= answer.headers.get('callboard-last-event') ?? undefined
      this.tell('connected', null)
      return await this.read(body, watch)
    } finally {
      watch.stop()
      this.closing.signal.removeEventListener('abort', leave)
      own.abort()
    }
  }

  private async read(body: ReadableStream<Uint8Array>, watch: Watch): Promise<boolean> {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    // A frame that was torn with the last connection comes again whole.
    this.parsed.restart()
    let atEnd = false
    for (;;) {
      const { done, value } = await reader.read()
      // Only the server knows: in a fork, an end may be its parent's, with more behind it.
      if (done) return atEnd
      watch.heard()
      const events = this.fresh(this.parsed.push(decoder.decode(value, { stream: true })))
      if (this.closing.signal.aborted) return false
      if (events.length === 0) continue
      this.backoff.reset()
      this.options.onEvents(events)
      const last = events[events.length - 1]
      atEnd = this.ends && last !== undefined && isTerminal(last)
    }
  }

  /** The events that were not seen before. */
  private fresh(frames: ReadonlyArray<Frame>): SerializedEvent[] {
    const events: SerializedEvent[] = []
    for (const frame of frames) {
      const place = Number(frame.id)
      if (place <= this.place) continue
      const event = parsed(frame.data)
      this.place = place
      this.lastEvent = event.id
      events.push(event)
    }
    return events
  }

  private tell(status: StreamStatus, error: CallboardError | null): void {
    this.status = status
    if (!this.closing.signal.aborted) this.options.onStatus?.(status, error)
  }
}

/** Calls out when nothing was heard for too long: a connection can die without a word. */
class Watch {
  private timer: ReturnType<typeof setTimeout>

  constructor(
    private readonly ms: number,
    private readonly late: () => void,
  ) {
    this.timer = setTimeout(late, ms)
  }

  heard(): void {
    clearTimeout(this.timer)
    this.timer = setTimeout(this.late, this.ms)
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}

function bodyOf(answer: Response): ReadableStream<Uint8Array> {
  const type = answer.headers.get('content-type') ?? 'nothing'
  if (answer.body && type.startsWith('text/event-stream')) return answer.body
  const message = `Expected a stream of events and got ${type}; is that the Callboard server?`
  throw new CallboardError(message, 'NOT_A_STREAM', answer.status)
}

function parsed(data: string): SerializedEvent {
  try {
    return JSON.parse(data) as SerializedEvent
  } catch {
    throw new CallboardError(
      'The stream contains a frame that is not an event.',
      'NOT_A_STREAM',
      200,
    )
  }
}

function asKnown(error: unknown): CallboardError {
  if (error instanceof CallboardError) return error
  const name = (error as { name?: unknown } | null)?.name
  if (name === 'AbortError') {
    return new ServerUnreachable('The server has fallen silent.', 'SERVER_UNREACHABLE')
  }
  // What a broken connection raises differs from place to place, and is a TypeError everywhere.
  if (error instanceof TypeError || name === 'TypeError') {
    return new ServerUnreachable('The connection was lost.', 'SERVER_UNREACHABLE')
  }
  return new ServerFailed(String(error), 'INTERNAL_ERROR', 200)
}
