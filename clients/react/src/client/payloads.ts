// Written by docs/generate.py from the classes of the server. Do not edit.

import type { Background, Problem } from './wire.js'

/** The agent returned. */
export interface AgentCompletedPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly phase: string
  readonly visit: number
  readonly output: unknown
  readonly durationMs: number
  readonly usage?: Readonly<Record<string, unknown>>
}

/** The agent called `ctx.emit("name", data)`. */
export interface AgentEmittedPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly name: string
  readonly data: unknown
}

/** The agent was stopped before it returned. */
export interface AgentInterruptedPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly phase: string
  readonly visit: number
  /** `waiting` for a person, `paused`, `stopped`, `crashed` (its process died) or `postponed` (it raised `RetryAfter`). */
  readonly reason: 'waiting' | 'paused' | 'stopped' | 'crashed' | 'postponed'
  readonly error?: Problem
  /** When a postponed agent is started again. */
  readonly retryInMs?: number
}

/** The agent is about to be called. */
export interface AgentStartedPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly phase: string
  readonly visit: number
  readonly provider?: string
  readonly model?: string
  /** The index of the item, in a phase with `for_each`. */
  readonly item?: number
}

/** At the deadline, this is the answer. */
export interface AnswerRule {
  readonly action: 'answer'
  readonly value: unknown
  readonly approved?: boolean
}

/** The client compacts its context. */
export interface CompactPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly source?: string
  readonly trigger?: string
}

/** At the deadline, ask more people, optionally with another deadline. */
export interface EscalationRule {
  readonly action: 'escalate'
  readonly to: ReadonlyArray<string>
  readonly afterMs: number | null
  readonly then: PlainRule | AnswerRule | EscalationRule
}

/** The transcript continued while the plate was waiting: the agent is idle. */
export interface HealthCheckRecoveryPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
}

/** A hook that does not change the status, or that this version does not know. */
export interface HookHeardPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly hook: string
  readonly kind?: string
  readonly message?: string
  /** The question whose hook is gone while its dialog is still open. */
  readonly unheld?: string
}

/** A server passed on what became of a command. */
export interface HostAnsweredPayload {
  readonly host: string
  readonly id: string
  /** `done`, `refused` or `failed`. */
  readonly result: string
}

/** A server asked the one that has a machine's relay for a command. */
export interface HostAskedPayload {
  readonly host: string
  readonly id: string
  readonly command: string
  /** Who asked for it. */
  readonly by?: string
}

/** The relay of another machine connected for the first time, or after it was unreachable. */
export interface HostConnectedPayload {
  /** The machine's id. */
  readonly host: string
  readonly name: string
  /** The version of Callboard on that machine. */
  readonly version: string
  /** What the machine lets servers do there, besides deciding. */
  readonly powers?: ReadonlyArray<string>
  /** Its token's id and a hash of its relay's secret, which comes with everything it sends. */
  readonly secret?: string
  /** When someone last used its token without the secret, in milliseconds. */
  readonly contestedAt?: number
}

/** Someone used a machine's token without the secret of its relay, and was refused. */
export interface HostContestedPayload {
  readonly host: string
}

/** A machine can't be reached anymore. What its agents do is unknown until it can be. */
export interface HostDisconnectedPayload {
  readonly host: string
  /** When it was last reachable, in milliseconds. */
  readonly seenAt: number
}

/** Someone removed a machine. It can report again after it was paired again. */
export interface HostRemovedPayload {
  readonly host: string
}

/** An answer to a coding agent was accepted. No other answer will be. Its outcome is not known yet. */
export interface InputAcceptedPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  readonly response: unknown
}

/** Someone changed who is expected to answer. It does not change who may. */
export interface InputAssignedPayload {
  readonly as?: string
  readonly by?: string
  readonly id: string
  /** People and groups (group:NAME). Empty: the question is unassigned. */
  readonly to: ReadonlyArray<string>
}

/** The answer is no longer needed, or the question was withdrawn. */
export interface InputCancelledPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  readonly outcome?: string
  readonly durationMs?: number
  readonly transcript?: string
  /** An earlier decision, if several people have to decide, or the value that counts instead. */
  readonly value?: unknown
  readonly error?: string
  readonly reason: string
  readonly receipt?: 'pending' | 'delivered' | 'overruled' | 'lost' | null
}

/** Someone claimed the question. Until then, no one else can claim it. */
export interface InputClaimedPayload {
  readonly id: string
  readonly by: string
  readonly until: number
}

/** One of several people who all have to decide has decided. */
export interface InputContributedPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  readonly outcome?: string
  readonly durationMs?: number
  readonly transcript?: string
  readonly value: unknown
  /** Everyone's decisions so far. */
  readonly responses: Readonly<Record<string, unknown>>
  readonly approved?: boolean
  readonly error?: string
}

/** Later evidence showed that a coding agent did something other than what was recorded. This replaces the record. */
export interface InputCorrectedPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  /** `completed` or `cancelled`. */
  readonly status: string
  readonly response: unknown
  readonly source: 'hook' | 'transcript' | 'registry' | 'silence'
  readonly receipt?: 'pending' | 'delivered' | 'overruled' | 'lost' | null
}

/** The workflow ended before an interactive session that does not block it. The session stays open with the same id, and is continued in a stream of its own. */
export interface InputDetachedPayload {
  readonly id: string
  readonly stream: string
  /** When it times out, if it does. */
  readonly deadline?: number
}

/** The deadline passed and the question went to more people. */
export interface InputEscalatedPayload {
  readonly id: string
  readonly to: ReadonlyArray<string>
  /** Everyone who may answer from now on, if that is restricted. */
  readonly assignees?: ReadonlyArray<string>
  readonly deadline?: number
  readonly onTimeout?: PlainRule | AnswerRule | EscalationRule | null
}

/** The deadline passed and `on_timeout` closed it, or an interactive session took too long. */
export interface InputExpiredPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  readonly outcome?: string
  readonly durationMs?: number
  readonly transcript?: string
  /** An earlier decision, if several people have to decide, or the value that counts instead. */
  readonly value?: unknown
  readonly error?: string
  readonly timedOut: boolean
  readonly approved?: boolean
  /** `on_timeout` was `"fail"`. */
  readonly fail?: boolean
}

/** An interactive session failed. */
export interface InputFailedPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  readonly outcome?: string
  readonly durationMs?: number
  readonly transcript?: string
  readonly error: string
  readonly value?: unknown
}

/** A person answered. For a coding agent: what it actually did. */
export interface InputReceivedPayload {
  readonly as?: string
  readonly by?: string
  readonly via?: string
  /** An admin answered in place of the assignees. */
  readonly override?: boolean
  readonly id: string
  readonly outcome?: string
  readonly durationMs?: number
  readonly transcript?: string
  readonly value: unknown
  /** The verdict of an approval. */
  readonly approved?: boolean
  /** Why the answer is no. */
  readonly message?: string
  /** How a confirmation was answered. */
  readonly status?: string
  /** What became of an accepted answer. */
  readonly receipt?: 'pending' | 'delivered' | 'overruled' | 'lost' | null
  readonly error?: string
}

/** The claim was released. */
export interface InputReleasedPayload {
  readonly id: string
}

/** The deadline passed and `on_timeout` was `"wait"`: the question stays open. */
export interface InputRemindedPayload {
  readonly id: string
}

/** A question was asked. */
export interface InputRequestedPayload {
  readonly as?: string
  readonly by?: string
  readonly prompt: string
  readonly type: string
  readonly options?: ReadonlyArray<string>
  /** Any text is a valid answer, too. */
  readonly other?: boolean
  readonly config?: Readonly<Record<string, unknown>>
  /** The only people and groups (group:NAME) who may answer. Without it, anyone may. */
  readonly assignees?: ReadonlyArray<string>
  readonly phase?: string
  /** This is the phase's own question. */
  readonly inline?: boolean
  /** Which run of an agent asked. Only such questions have `attempt`, `key` and `nth`. */
  readonly run?: string
  readonly attempt?: number
  readonly key?: string
  readonly nth?: number
  readonly id: string
  readonly deadline?: number
  readonly onTimeout?: PlainRule | AnswerRule | EscalationRule | null
  /** The question belongs to no session. Its stream has the same id. */
  readonly standalone?: boolean
  /** The session of the coding agent that asks. */
  readonly executionId?: string
}

/** What came of an interrupt. */
export interface InterruptAnsweredPayload {
  /** Whether the client was told to stop. */
  readonly wasInterrupted: boolean
}

/** Someone is about to interrupt the agent's turn. */
export interface InterruptRequestedPayload {
  readonly by?: string
  readonly via?: string
}

/** Someone changed a message that was still queued. */
export interface MessageChangedPayload {
  readonly id: string
  readonly by?: string
  readonly via?: string
  readonly text?: string
  readonly when?: 'now' | 'after_turn'
}

/** The client has the message: its own hook, API or transcript shows it. */
export interface MessageDeliveredPayload {
  readonly id: string
  readonly way?: string
  /** When, in milliseconds, if the client says. */
  readonly at?: number
}

/** The board is about to hand a message over to the agent's client. Recorded before that is done: from now on, the agent may have it. */
export interface MessageHandedPayload {
  readonly id: string
  readonly attempt: number
  /** How: `inbox`, `app_server`, `plugin`, `hook`, `terminal` or `prompt`. */
  readonly way: string
  /** Whether the model takes the message as its person's own words. */
  readonly authority: boolean
  /** The client's session that it is meant for. */
  readonly session: string
  /** The process that the session runs in, if that is known. */
  readonly pid?: number
  /** When that started, as its system says it, since a process id can be reused. */
  readonly procStart?: string
}

/** The client has the message, and asks the person at its terminal whether to accept it. */
export interface MessageHeldPayload {
  readonly id: string
  readonly note?: string
}

/** The agent did not get the message, or nothing shows that it did. It is not sent again. */
export interface MessageLostPayload {
  readonly id: string
  readonly reason: string
}

/** Someone moved a message that was still queued. */
export interface MessageMovedPayload {
  readonly id: string
  readonly by?: string
  readonly via?: string
  /** The new places of all messages that have another one now, by id. */
  readonly places: Readonly<Record<string, number>>
}

/** Someone wrote a message, and it waits to be handed over. */
export interface MessageQueuedPayload {
  readonly id: string
  readonly by?: string
  readonly via?: string
  /** Empty for those who may not read messages to agents. */
  readonly text: string
  readonly when: 'now' | 'after_turn'
  /** Its place among the messages of its plate; lower ones are handed over first. */
  readonly place: number
}

/** Handing a message over certainly did nothing: it waits again. */
export interface MessageReturnedPayload {
  readonly id: string
  readonly attempt: number
  readonly note?: string
}

/** The model was given the message. */
export interface MessageSeenPayload {
  readonly id: string
  /** When, in milliseconds, if the client says. */
  readonly at?: number
}

/** Someone withdrew a message before it was handed over. The agent never gets it. */
export interface MessageWithdrawnPayload {
  readonly id: string
  readonly by?: string
  readonly via?: string
}

/** An effect given to `ctx.once` returned. */
export interface OnceCompletedPayload {
  readonly run: string
  readonly attempt: number
  readonly key: string
  readonly value: unknown
}

/** One operation of a JSON Patch (RFC 6902) on the state. */
export interface Patch {
  readonly from?: string
  readonly op: string
  readonly path: string
  readonly value?: unknown
}

/** The client opened a dialog: for a tool, a question or a plan. */
export interface PermissionRequestPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly toolName?: string
  /** Left out if `raw` has it. */
  readonly toolInput?: unknown
  /** The client's own id of the call. */
  readonly toolUseId?: string
  /** What the person is asked. */
  readonly asks?: string
  /** The client's own id of the request. */
  readonly call?: string
}

/** The dialog closed. */
export interface PermissionResolvedPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  /** The id of the question. */
  readonly request?: string
  readonly outcome?: 'allowed' | 'denied' | 'dismissed' | 'presumed' | 'lost' | 'unknown'
  /** Where it was decided: `terminal` or `hook`. */
  readonly via?: string
  /** What the person wrote when they denied it. */
  readonly message?: string
  readonly answers?: Readonly<Record<string, unknown>>
  /** What shows it. */
  readonly source?: 'hook' | 'transcript' | 'registry' | 'silence'
  readonly toolUseId?: string
  /** Nothing later will contradict it. */
  readonly final?: boolean
  /** The hook received this accepted answer. */
  readonly handed?: 'allowed' | 'denied'
  /** A fingerprint of the input that the answer has, if a person edited it. */
  readonly edited?: string
  readonly approved?: boolean
  /** The client's own id of the request. */
  readonly call?: string
  readonly toolName?: string
}

/** What became of a request after its dialog closed. */
export interface PermissionSettledPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  /** The id of the question. */
  readonly request?: string
  readonly outcome?: 'allowed' | 'denied' | 'dismissed' | 'presumed' | 'lost' | 'unknown'
  /** Where it was decided: `terminal` or `hook`. */
  readonly via?: string
  /** What the person wrote when they denied it. */
  readonly message?: string
  readonly answers?: Readonly<Record<string, unknown>>
  /** What shows it. */
  readonly source?: 'hook' | 'transcript' | 'registry' | 'silence'
  readonly toolUseId?: string
  /** Nothing later will contradict it. */
  readonly final?: boolean
  /** The hook received this accepted answer. */
  readonly handed?: 'allowed' | 'denied'
  /** A fingerprint of the input that the answer has, if a person edited it. */
  readonly edited?: string
}

/** A phase started. What its `guard` and `for_each` returned is recorded here. */
export interface PhaseEnteredPayload {
  readonly phase: string
  readonly visit: number
  readonly fromPhase?: string
  readonly guard?: boolean
  readonly items?: ReadonlyArray<unknown>
}

/** A phase ended. What its `next` and `until` returned is recorded here. */
export interface PhaseExitedPayload {
  readonly phase: string
  readonly visit: number
  /** `next`, `terminal`, `skipped` or `error`. */
  readonly reason: 'next' | 'terminal' | 'skipped' | 'error'
  readonly next?: string | null
  readonly until?: boolean
  /** A terminal phase was skipped. */
  readonly terminal?: boolean
}

/** An attempt failed. */
export interface PhaseFailedPayload {
  readonly phase: string
  readonly visit: number
  /** Null when one of the phase's own functions failed; then `attempt` is 0. */
  readonly run: string | null
  readonly attempt: number
  readonly error: Problem
  /** When the next attempt starts, if there will be one. */
  readonly retryInMs?: number
}

/** At the deadline, keep waiting, fail the phase, or end the interactive session. */
export interface PlainRule {
  readonly action: 'wait' | 'fail' | 'end'
}

/** Someone renamed or pinned the plate, marked it as seen, or checked out a branch. */
export interface PlateChangedPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly name?: string
  readonly pinned?: boolean
  readonly seen?: boolean
  /** The branch that its folder has checked out now. */
  readonly gitBranch?: string
  readonly by?: string
}

/** Someone removed the plate from the board. */
export interface PlateDismissedPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly by?: string
}

/** `callboard watch` is about to start a client. */
export interface PlateRegisteredPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
}

/** The client's process is gone. */
export interface ProcessExitPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
}

/** A person, or the client itself, sent a prompt. */
export interface PromptSubmitPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly prompt?: string
  /** The client started the turn itself, or its status shows that a turn started. */
  readonly origin?: 'self' | 'status'
}

/** The client's session ended. */
export interface SessionEndPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly reason?: string
}

/** The first event of a fork after the part that it shares with its parent. */
export interface SessionForkedPayload {
  readonly as?: string
  readonly by?: string
  readonly parentSessionId: string
  readonly forkPosition: number
  readonly workflow: string
  readonly version: string | null
  readonly phase: string | null
  readonly edits?: ReadonlyArray<Patch>
  /** In a fork at position 1: how many of the first edits the workflow's `start` made. */
  readonly startEdits?: number
  readonly source?: Readonly<Record<string, string>>
  /** The title of the parent at that time. */
  readonly title?: string
}

/** The session cannot continue: the workflow no longer has the phase that comes next. */
export interface SessionHeldPayload {
  readonly reason: string
}

/** The client started a session: when it was started, by `/clear`, or when it resumed one. */
export interface SessionStartPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly source?: string
}

/** Someone changed a session's title. Written to the stream `title:<ID>`, so that a session can be renamed after its last event. */
export interface SessionTitledPayload {
  readonly as?: string
  readonly by?: string
  readonly sessionId: string
  readonly title: string | null
}

/** The whole view. Written between two phases, or after `session:forked`, once the events since the last checkpoint outweigh it. */
export interface StateCheckpointPayload {
  readonly state: unknown
  readonly phase: string | null
  readonly control: Readonly<Record<string, unknown>>
}

/** The state changed. */
export interface StateIntentPayload {
  readonly intentId: string
  /** What changed it: `start`, `before`, `update`, `human`, `after`, `reset` or `upgrade`. `human` is the answer, and `on_answer`. `reset` clears the previous phase's answer; it is `enter` in older sessions. `upgrade` sets the defaults of fields that the type has gained. */
  readonly reason: string
  /** A JSON Patch. It may be empty for `before` and `after`, which are recorded even then. */
  readonly patches: ReadonlyArray<Patch>
}

/** A turn failed. */
export interface StopFailurePayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly error: string
}

/** A turn ended. */
export interface StopPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  /** The agent's last message. */
  readonly message?: string
  readonly background?: ReadonlyArray<Background>
  readonly error?: string
  /** Where that was found, if no hook reported it. */
  readonly seenIn?: 'registry' | 'transcript' | 'silence'
}

/** A subagent started. `subagent` is its id. */
export interface SubagentStartPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly agentType?: string
}

/** A subagent ended. `subagent` is its id. */
export interface SubagentStopPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly agentType?: string
  readonly source?: string
  readonly message?: string
  readonly error?: string
  readonly reason?: string
}

/** The session ended, whatever its outcome. Written in the same append. */
export interface TaskCompletedPayload {
  readonly taskId: string
  readonly kind: string
  readonly title: string
}

/** An interactive session was requested. The task has the id of its question. */
export interface TaskStartedPayload {
  readonly taskId: string
  readonly kind: string
  readonly title: string
}

/** Text. At most one event is written every 50 ms. */
export interface TextDeltaPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly delta: string
}

/** Reasoning. At most one event is written every 50 ms. */
export interface ThinkingDeltaPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly delta: string
}

/** One entry of an agent's to-do list. */
export interface TodoItem {
  readonly id: string
  readonly text?: string
  readonly status?: string
}

/** A tool ran, successfully or not. */
export interface ToolCallPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly toolName?: string
  /** Left out if `raw` has it. */
  readonly toolInput?: unknown
  /** The client's own id of the call. */
  readonly toolUseId?: string
  /** What the person answered, if the tool is a question. */
  readonly answers?: Readonly<Record<string, unknown>>
  readonly failure?: string
  readonly hook?: string
}

/** The agent called a tool. */
export interface ToolCalledPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly toolId: string
  readonly toolName: string
  readonly input: unknown
}

/** The tool returned. */
export interface ToolResultPayload {
  readonly run: string
  readonly attempt: number
  readonly agent: string
  readonly toolId: string
  readonly output: unknown
  readonly isError: boolean
}

/** A tool is about to run. */
export interface ToolStartPayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly toolName?: string
  /** Left out if `raw` has it. */
  readonly toolInput?: unknown
  /** The client's own id of the call. */
  readonly toolUseId?: string
  /** What the person is asked, if the tool is a question. */
  readonly asks?: string
  /** When the call had its result, if this event comes after it. */
  readonly resultAt?: number
}

/** The client waits for a prompt: after its start, or because someone pressed Esc. */
export interface TurnIdlePayload {
  /** The client's own session. */
  readonly sessionId?: string
  /** The hook's payload as it came, or its start if it was huge. */
  readonly raw?: unknown
  /** What the event changed about the plate, with the names that `GET /plates` uses. Without it, the event changed nothing: it came late, or the plate was closed. */
  readonly plate?: Readonly<Record<string, unknown>>
  /** The id of the subagent in which it happened. */
  readonly subagent?: string
  /** The agent's whole to-do list. */
  readonly todos?: ReadonlyArray<TodoItem>
  /** One entry of that list, new or changed. */
  readonly todo?: TodoItem
  readonly interrupted?: boolean
  /** Where that was found, if no hook reported it. */
  readonly seenIn?: 'registry' | 'transcript' | 'silence'
}

/** Someone cancelled the session. */
export interface WorkflowCancelledPayload {
  readonly as?: string
  readonly by?: string
  readonly reason?: string
}

/** The terminal phase is done. */
export interface WorkflowCompletedPayload {
  readonly exitPhase: string | null
  /** Added when the event is served. It is not stored. */
  readonly finalState?: unknown
}

/** A phase failed and will not be retried. */
export interface WorkflowFailedPayload {
  /** It has `code`, `message`, `type` and `phase`. */
  readonly error: Problem
}

/** The session is paused: nothing is running. */
export interface WorkflowPausedPayload {
  readonly as?: string
  readonly by?: string
  readonly reason?: string
}

/** Someone asked for a pause. */
export interface WorkflowPausingPayload {
  readonly as?: string
  readonly by?: string
  readonly reason?: string
  /** Running agents are interrupted instead of finishing first. */
  readonly interrupt?: boolean
}

/** The session continues. */
export interface WorkflowResumedPayload {
  readonly as?: string
  readonly by?: string
}

/** A session started. */
export interface WorkflowStartedPayload {
  readonly as?: string
  readonly by?: string
  readonly workflow: string
  readonly version: string | null
  readonly input: unknown
  readonly initialState: unknown
  /** The file that the workflow was loaded from, if it came from a file. */
  readonly source?: Readonly<Record<string, string>>
  /** What people call the session: given by the caller, else by the workflow. */
  readonly title?: string
}

/** The payload of each name that this version knows. */
export interface EventPayloads {
  'workflow:started': WorkflowStartedPayload
  'workflow:completed': WorkflowCompletedPayload
  'workflow:pausing': WorkflowPausingPayload
  'workflow:paused': WorkflowPausedPayload
  'workflow:resumed': WorkflowResumedPayload
  'workflow:failed': WorkflowFailedPayload
  'workflow:cancelled': WorkflowCancelledPayload
  'session:forked': SessionForkedPayload
  'session:titled': SessionTitledPayload
  'session:held': SessionHeldPayload
  'phase:entered': PhaseEnteredPayload
  'phase:exited': PhaseExitedPayload
  'phase:failed': PhaseFailedPayload
  'agent:started': AgentStartedPayload
  'agent:completed': AgentCompletedPayload
  'agent:interrupted': AgentInterruptedPayload
  'once:completed': OnceCompletedPayload
  'text:delta': TextDeltaPayload
  'thinking:delta': ThinkingDeltaPayload
  'tool:called': ToolCalledPayload
  'tool:result': ToolResultPayload
  'agent:emitted': AgentEmittedPayload
  'state:intent': StateIntentPayload
  'state:checkpoint': StateCheckpointPayload
  'input:requested': InputRequestedPayload
  'input:accepted': InputAcceptedPayload
  'input:received': InputReceivedPayload
  'input:corrected': InputCorrectedPayload
  'input:cancelled': InputCancelledPayload
  'input:expired': InputExpiredPayload
  'input:reminded': InputRemindedPayload
  'input:escalated': InputEscalatedPayload
  'input:failed': InputFailedPayload
  'input:detached': InputDetachedPayload
  'input:claimed': InputClaimedPayload
  'input:released': InputReleasedPayload
  'input:assigned': InputAssignedPayload
  'input:contributed': InputContributedPayload
  'task:started': TaskStartedPayload
  'task:completed': TaskCompletedPayload
}

/** Every name that this version knows. */
export const eventNames: ReadonlyArray<keyof EventPayloads> = [
  'workflow:started',
  'workflow:completed',
  'workflow:pausing',
  'workflow:paused',
  'workflow:resumed',
  'workflow:failed',
  'workflow:cancelled',
  'session:forked',
  'session:titled',
  'session:held',
  'phase:entered',
  'phase:exited',
  'phase:failed',
  'agent:started',
  'agent:completed',
  'agent:interrupted',
  'once:completed',
  'text:delta',
  'thinking:delta',
  'tool:called',
  'tool:result',
  'agent:emitted',
  'state:intent',
  'state:checkpoint',
  'input:requested',
  'input:accepted',
  'input:received',
  'input:corrected',
  'input:cancelled',
  'input:expired',
  'input:reminded',
  'input:escalated',
  'input:failed',
  'input:detached',
  'input:claimed',
  'input:released',
  'input:assigned',
  'input:contributed',
  'task:started',
  'task:completed',
]

/** The payload of each name that this version knows. */
export interface PlateEventPayloads {
  'session_start': SessionStartPayload
  'prompt_submit': PromptSubmitPayload
  'tool_start': ToolStartPayload
  'tool_call': ToolCallPayload
  'stop': StopPayload
  'health_check_recovery': HealthCheckRecoveryPayload
  'permission_request': PermissionRequestPayload
  'permission_resolved': PermissionResolvedPayload
  'permission_settled': PermissionSettledPayload
  'stop_failure': StopFailurePayload
  'turn_idle': TurnIdlePayload
  'subagent_start': SubagentStartPayload
  'subagent_stop': SubagentStopPayload
  'compact': CompactPayload
  'session_end': SessionEndPayload
  'process_exit': ProcessExitPayload
  'hook_heard': HookHeardPayload
  'plate_registered': PlateRegisteredPayload
  'plate_changed': PlateChangedPayload
  'plate_dismissed': PlateDismissedPayload
  'host_connected': HostConnectedPayload
  'host_contested': HostContestedPayload
  'host_asked': HostAskedPayload
  'host_answered': HostAnsweredPayload
  'host_disconnected': HostDisconnectedPayload
  'host_removed': HostRemovedPayload
  'message_queued': MessageQueuedPayload
  'message_changed': MessageChangedPayload
  'message_moved': MessageMovedPayload
  'message_withdrawn': MessageWithdrawnPayload
  'message_handed': MessageHandedPayload
  'message_returned': MessageReturnedPayload
  'message_held': MessageHeldPayload
  'message_delivered': MessageDeliveredPayload
  'message_seen': MessageSeenPayload
  'message_lost': MessageLostPayload
  'interrupt_requested': InterruptRequestedPayload
  'interrupt_answered': InterruptAnsweredPayload
}

/** Every name that this version knows. */
export const plateEventNames: ReadonlyArray<keyof PlateEventPayloads> = [
  'session_start',
  'prompt_submit',
  'tool_start',
  'tool_call',
  'stop',
  'health_check_recovery',
  'permission_request',
  'permission_resolved',
  'permission_settled',
  'stop_failure',
  'turn_idle',
  'subagent_start',
  'subagent_stop',
  'compact',
  'session_end',
  'process_exit',
  'hook_heard',
  'plate_registered',
  'plate_changed',
  'plate_dismissed',
  'host_connected',
  'host_contested',
  'host_asked',
  'host_answered',
  'host_disconnected',
  'host_removed',
  'message_queued',
  'message_changed',
  'message_moved',
  'message_withdrawn',
  'message_handed',
  'message_returned',
  'message_held',
  'message_delivered',
  'message_seen',
  'message_lost',
  'interrupt_requested',
  'interrupt_answered',
]
