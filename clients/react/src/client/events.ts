/**
 * What can happen in a session, as docs/reference/events.md lists it.
 *
 * Written by hand: the server's document says only that a payload is an object. A test compares
 * the names with those of the server.
 */
import type { EventEnvelope, Interaction, Problem } from './wire.js'

type Json = Readonly<Record<string, unknown>>

/** One piece of an agent's work, and which attempt at it. */
interface Run {
  readonly run: string
  readonly attempt: number
}

interface AgentRun extends Run {
  readonly agent: string
  readonly phase: string
  readonly visit: number
}

interface Saying extends Run {
  readonly agent: string
}

interface By {
  /** The authenticated name. */
  readonly by?: string
  /** The name that the caller gave, where it is another one. */
  readonly as?: string
  readonly via?: string
}

interface InteractiveEnd extends By {
  readonly id: string
  readonly outcome?: string
  readonly durationMs?: number
  readonly transcript?: string
}

/** A question that was put to people. Deadlines are milliseconds since 1970. */
export interface InputRequestedPayload {
  readonly id: string
  readonly prompt: string
  readonly type: string
  readonly options?: ReadonlyArray<string>
  readonly other?: boolean
  readonly phase?: string
  readonly deadline?: number
  readonly onTimeout?: unknown
  readonly inline?: boolean
  readonly run?: string
  readonly attempt?: number
  readonly key?: string
  readonly nth?: number
  readonly config?: Json
  readonly by?: string
  readonly standalone?: boolean
}

/** What became of an answer. */
export type Receipt = NonNullable<Interaction['receipt']>

/** An answer to a question, and for a coding agent's question what became of it. */
export interface InputReceivedPayload extends InteractiveEnd {
  readonly value: unknown
  readonly approved?: boolean
  readonly status?: string
  readonly error?: string
  readonly receipt?: Receipt
}

/** An answer to a coding agent that was taken. The agent has not confirmed it yet. */
export interface InputAcceptedPayload extends By {
  readonly id: string
  readonly response: unknown
}

/** What really happened, where the record said something else before. It always wins. */
export interface InputCorrectedPayload extends By {
  readonly id: string
  readonly status: Interaction['status']
  readonly response: unknown
  /** What shows it: `hook`, `transcript`, `registry` or `silence`. */
  readonly source: string
  readonly receipt?: Receipt
}

/** One operation of a JSON Patch that the log holds. */
export interface Patch {
  readonly op: string
  readonly path: string
  readonly value?: unknown
  readonly from?: string
}

/** The payload of each name that this version knows. */
export interface EventPayloads {
  'workflow:started': {
    readonly workflow: string
    readonly version: string | null
    readonly input: unknown
    readonly initialState: unknown
    readonly source?: string
    readonly by?: string
  }
  'workflow:completed': { readonly exitPhase: string | null; readonly finalState: unknown }
  'workflow:failed': { readonly error: Problem }
  'workflow:cancelled': { readonly by?: string; readonly reason?: string }
  'workflow:pausing': {
    readonly by?: string
    readonly reason?: string
    readonly interrupt?: boolean
  }
  'workflow:paused': { readonly by?: string; readonly reason?: string }
  'workflow:resumed': { readonly by?: string }
  'session:forked': {
    readonly parentSessionId: string
    readonly forkPosition: number
    readonly workflow: string
    readonly version: string | null
    readonly phase: string | null
    readonly edits?: ReadonlyArray<Patch>
    readonly source?: string
    readonly by?: string
  }
  'session:held': { readonly reason: string }
  'phase:entered': {
    readonly phase: string
    readonly visit: number
    readonly fromPhase?: string
    readonly guard?: boolean
    readonly items?: ReadonlyArray<unknown>
  }
  'phase:exited': {
    readonly phase: string
    readonly visit: number
    readonly reason: 'next' | 'terminal' | 'skipped' | 'error'
    readonly next?: string
    readonly until?: boolean
    readonly terminal?: boolean
  }
  'phase:failed': {
    readonly phase: string
    readonly visit: number
    readonly run: string | null
    readonly attempt: number
    readonly error: Problem
    readonly retryInMs?: number
  }
  'agent:started': AgentRun & {
    readonly item?: number
    readonly provider?: string
    readonly model?: string
  }
  'agent:completed': AgentRun & {
    readonly output: unknown
    readonly durationMs: number
    readonly usage?: Json
  }
  'agent:interrupted': AgentRun & {
    readonly reason: 'waiting' | 'paused' | 'crashed' | 'stopped' | 'postponed'
    readonly error?: Problem
    readonly retryInMs?: number
  }
  'agent:emitted': Saying & { readonly name: string; readonly data: unknown }
  'once:completed': Run & { readonly key: string; readonly value: unknown }
  'text:delta': Saying & { readonly delta: string }
  'thinking:delta': Saying & { readonly delta: string }
  'tool:called': Saying & {
    readonly toolId: string
    readonly toolName: string
    readonly input: unknown
  }
  'tool:result': Saying & {
    readonly toolId: string
    readonly output: unknown
    readonly isError: boolean
  }
  'state:intent': {
    readonly intentId: string
    readonly reason: string
    readonly patches: ReadonlyArray<Patch>
  }
  'state:checkpoint': {
    readonly state: unknown
    readonly phase: string | null
    readonly control: Json
  }
  'input:requested': InputRequestedPayload
  'input:claimed': { readonly id: string; readonly by: string; readonly until: number }
  'input:released': { readonly id: string }
  'input:contributed': InteractiveEnd & {
    readonly value: unknown
    /** What everybody said so far. */
    readonly responses: unknown
    readonly approved?: boolean
  }
  'input:accepted': InputAcceptedPayload
  'input:received': InputReceivedPayload
  'input:corrected': InputCorrectedPayload
  'input:cancelled': InteractiveEnd & {
    readonly reason: string
    readonly error?: string
    readonly receipt?: Receipt
  }
  'input:expired': InteractiveEnd & {
    readonly timedOut: boolean
    readonly value?: unknown
    readonly approved?: boolean
    readonly fail?: boolean
    readonly error?: string
  }
  'input:failed': InteractiveEnd & { readonly error: string }
  'input:reminded': { readonly id: string }
  'input:escalated': {
    readonly id: string
    readonly to: unknown
    readonly deadline?: number
    readonly onTimeout?: unknown
  }
  'task:started': Json
  'task:completed': Json
}

/** A name that this version knows. */
export type EventName = keyof EventPayloads

/** An event of one name; its payload is that name's. */
export type EventOf<N extends EventName> = Omit<EventEnvelope, 'name' | '_tag' | 'payload'> & {
  readonly name: N
  readonly _tag: N
  readonly payload: EventPayloads[N]
}

/** An event of a name that this version knows, told apart by `name`. */
export type KnownEvent = { [N in EventName]: EventOf<N> }[EventName]

/** An event as the server sends it. A newer server may send names that are not known here. */
export type SerializedEvent = EventEnvelope

const NAMES = {
  'workflow:started': true,
  'workflow:completed': true,
  'workflow:failed': true,
  'workflow:cancelled': true,
  'workflow:pausing': true,
  'workflow:paused': true,
  'workflow:resumed': true,
  'session:forked': true,
  'session:held': true,
  'phase:entered': true,
  'phase:exited': true,
  'phase:failed': true,
  'agent:started': true,
  'agent:completed': true,
  'agent:interrupted': true,
  'agent:emitted': true,
  'once:completed': true,
  'text:delta': true,
  'thinking:delta': true,
  'tool:called': true,
  'tool:result': true,
  'state:intent': true,
  'state:checkpoint': true,
  'input:requested': true,
  'input:claimed': true,
  'input:released': true,
  'input:contributed': true,
  'input:accepted': true,
  'input:received': true,
  'input:corrected': true,
  'input:cancelled': true,
  'input:expired': true,
  'input:failed': true,
  'input:reminded': true,
  'input:escalated': true,
  'task:started': true,
  'task:completed': true,
} satisfies Record<EventName, true>

/** Every name that this version knows. */
export const eventNames = Object.keys(NAMES) as ReadonlyArray<EventName>

/** Whether an event has a name that this version knows; then `name` tells its payload. */
export function isKnownEvent(event: SerializedEvent): event is SerializedEvent & KnownEvent {
  return Object.hasOwn(NAMES, event.name)
}

/** Whether an event has this name; then its payload is that name's. */
export function isEvent<N extends EventName>(
  event: SerializedEvent,
  name: N,
): event is SerializedEvent & EventOf<N> {
  return event.name === name
}

/** Whether nothing can follow this event. */
export function isTerminal(event: SerializedEvent): boolean {
  return (
    event.name === 'workflow:completed' ||
    event.name === 'workflow:failed' ||
    event.name === 'workflow:cancelled'
  )
}
