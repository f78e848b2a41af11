import { objectOf } from '../asks/ask'
import { briefOf } from '../asks/tools'
import type { SerializedEvent } from '../server/types'
import {
  describe,
  type Line,
  line,
  type Payload,
  type Teller,
  told,
  whoDid,
} from '../session/describe'
import { text } from './text'

/** Tell an event of a plate's stream; questions and answers are told as everywhere else. */
export function describePlate(event: SerializedEvent): Line {
  if (!(event.name in TELLERS)) return describe(event)
  const found = told(event, TELLERS)
  return event.payload.subagent && event.name !== 'subagent_start' && event.name !== 'subagent_stop'
    ? { ...found, title: words.subagent(found.title) }
    : found
}

const words = text.events

const TELLERS: Readonly<Record<string, Teller>> = {
  session_start: (p) => line('good', words.started, sourceOf(p)),
  prompt_submit: (p) =>
    p.origin === 'self' ? line('agent', words.selfPrompt) : line('person', words.prompt, p.prompt),
  tool_start: (p) => line('agent', words.uses(toolOf(p)), inputOf(p)),
  tool_call: (p) =>
    p.failure
      ? line('bad', words.toolFailed(String(p.toolName)), p.failure)
      : line('agent', words.toolDone(toolOf(p)), inputOf(p)),
  stop: (p) =>
    p.error ? line('bad', words.stoppedWithError, p.error) : line('good', words.done, p.message),
  stop_failure: (p) => line('bad', words.turnFailed, p.error),
  turn_idle: (p) => line('plain', p.interrupted ? words.interrupted : words.idle),
  permission_request: (p) => line('person', words.asksFor(toolOf(p)), p.asks ?? inputOf(p)),
  permission_resolved: (p) => line('person', resolved(p)),
  permission_settled: (p) =>
    line('person', SETTLED[String(p.outcome)] ?? words.outcomeKnown, shownBy(p)),
  subagent_start: (p) => line('phase', words.subagentStarted, p.subagent),
  subagent_stop: (p) => line('phase', words.subagentDone, p.subagent),
  compact: () => line('plain', words.compacted),
  session_end: (p) => line('phase', words.ended, p.reason),
  process_exit: (p) => line('phase', words.processEnded, p.reason),
  health_check_recovery: () => line('plain', words.foundIdle, words.foundIdleWhy),
  hook_heard: (p) => line('state', words.hook(String(p.hook ?? ''))),
  plate_registered: () => line('plain', words.registered),
  plate_changed: (p) => line('plain', changed(p), p.by && words.by(whoDid(p))),
  message_queued: (p) =>
    line(
      'person',
      p.when === 'after_turn' ? words.queuedForLater(by(p)) : words.queued(by(p)),
      p.text,
    ),
  message_changed: (p) => line('person', words.messageChanged(by(p)), p.text),
  message_moved: (p) => line('person', words.messagesMoved(by(p))),
  message_withdrawn: (p) => line('person', words.messageWithdrawn(by(p))),
  message_handed: () => line('person', words.messageHanded),
  message_returned: (p) => line('plain', words.messageReturned, p.note),
  message_held: (p) => line('plain', words.messageHeld, p.note),
  message_delivered: () => line('good', words.messageDelivered),
  message_seen: () => line('good', words.messageSeen),
  message_lost: (p) => line('bad', words.messageLost, p.reason),
  interrupt_requested: (p) => line('person', words.interruptRequested(by(p))),
  interrupt_answered: (p) =>
    p.wasInterrupted ? line('plain', words.interruptSent) : line('bad', words.notInterrupted),
  usage_counted: () => line('plain', words.usageCounted),
  plate_dismissed: (p) => line('plain', words.dismissed, p.by && words.by(whoDid(p))),
}

function by(p: Payload): string {
  return p.by ? ` ${words.by(whoDid(p))}` : ''
}

function toolOf(p: Payload): string | null {
  return typeof p.toolName === 'string' ? p.toolName : null
}

function sourceOf(p: Payload): unknown {
  return p.source ?? objectOf(p.raw).source
}

/** The input stands in the raw payload, unless that was too large. */
function inputOf(p: Payload): string {
  return briefOf(p.toolInput ?? objectOf(p.raw).tool_input)
}

function resolved({ approved, handed }: Payload): string {
  if (handed === true) return words.answerSent
  if (approved === true) return words.allowed
  return approved === false ? words.denied : words.dialogClosed
}

const SETTLED: Readonly<Record<string, string>> = words.settled
const SOURCES: Readonly<Record<string, string>> = words.sources

/** Where it was decided, and what shows that. */
function shownBy({ via, source }: Payload): string {
  const where = via === 'terminal' ? words.inTerminal : ''
  return [where, SOURCES[String(source)]].filter(Boolean).join(', ')
}

function changed(p: Payload): string {
  if (typeof p.name === 'string') return p.name ? words.named(p.name) : words.unnamed
  if (typeof p.pinned === 'boolean') return p.pinned ? words.pinned : words.unpinned
  if (typeof p.gitBranch === 'string') return words.branch(p.gitBranch)
  if (typeof p.seen === 'boolean') return p.seen ? words.seen : words.unseen
  return words.changed
}
