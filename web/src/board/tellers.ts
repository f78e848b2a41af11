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

/** Tell an event of a plate's stream; questions and answers are told as everywhere else. */
export function describePlate(event: SerializedEvent): Line {
  if (!(event.name in TELLERS)) return describe(event)
  const found = told(event, TELLERS)
  return event.payload.subagent && event.name !== 'subagent_start' && event.name !== 'subagent_stop'
    ? { ...found, title: `Subagent: ${found.title}` }
    : found
}

const TELLERS: Readonly<Record<string, Teller>> = {
  session_start: (p) => line('good', 'A session began', sourceOf(p)),
  prompt_submit: (p) =>
    p.origin === 'self'
      ? line('agent', 'Resumed automatically')
      : line('person', 'Prompt', p.prompt),
  tool_start: (p) => line('agent', `Uses ${p.toolName ?? 'a tool'}`, inputOf(p)),
  tool_call: (p) =>
    p.failure
      ? line('bad', `${p.toolName} failed`, p.failure)
      : line('agent', p.toolName ? `${p.toolName} is done` : 'A step is done', inputOf(p)),
  stop: (p) =>
    p.error ? line('bad', 'Stopped with an error', p.error) : line('good', 'Done', p.message),
  stop_failure: (p) => line('bad', 'The turn failed', p.error),
  turn_idle: (p) => line('plain', p.interrupted ? 'Interrupted' : 'Waits for a prompt'),
  permission_request: (p) =>
    line('person', `Asks for ${p.toolName ?? 'a permission'}`, p.asks ?? inputOf(p)),
  permission_resolved: (p) => line('person', resolved(p)),
  permission_settled: (p) =>
    line('person', SETTLED[String(p.outcome)] ?? 'Outcome known', shownBy(p)),
  subagent_start: (p) => line('phase', 'A subagent began', p.subagent),
  subagent_stop: (p) => line('phase', 'A subagent is done', p.subagent),
  compact: () => line('plain', 'Context compacted'),
  session_end: (p) => line('phase', 'The session ended', p.reason),
  process_exit: (p) => line('phase', 'Its process ended', p.reason),
  health_check_recovery: () =>
    line('plain', 'Found idle', 'Its transcript went on without a hook telling so.'),
  hook_heard: (p) => line('state', `Hook ${p.hook ?? ''}`),
  plate_registered: () => line('plain', 'About to start'),
  plate_changed: (p) => line('plain', changed(p), p.by && `by ${whoDid(p)}`),
  plate_dismissed: (p) => line('plain', 'Dismissed', p.by && `by ${whoDid(p)}`),
}

function sourceOf(p: Payload): unknown {
  return p.source ?? objectOf(p.raw).source
}

/** The input stands in the raw payload, unless that was too large. */
function inputOf(p: Payload): string {
  return briefOf(p.toolInput ?? objectOf(p.raw).tool_input)
}

function resolved({ approved, handed }: Payload): string {
  if (handed === true) return 'Answer sent to the agent'
  if (approved === true) return 'Allowed'
  return approved === false ? 'Denied' : 'The dialog is closed'
}

const SETTLED: Readonly<Record<string, string>> = {
  allowed: 'Confirmed: it was allowed',
  denied: 'Confirmed: it was denied',
  dismissed: 'Confirmed: it was dismissed',
  presumed: 'Nothing contradicts the answer',
  lost: 'The agent stopped before it got the answer',
}

/** Where it was decided, and what shows that. */
function shownBy({ via, source }: Payload): string {
  const where = via === 'terminal' ? 'in the terminal' : ''
  return [where, SOURCES[String(source)]].filter(Boolean).join(', ')
}

const SOURCES: Readonly<Record<string, string>> = {
  hook: 'reported by its hook',
  transcript: 'found in its transcript',
  registry: 'found in its list of sessions',
}

function changed(p: Payload): string {
  if (typeof p.name === 'string') return p.name ? `Named ${p.name}` : 'The name was taken away'
  if (typeof p.pinned === 'boolean') return p.pinned ? 'Pinned' : 'Unpinned'
  if (typeof p.gitBranch === 'string') return `Branch ${p.gitBranch}`
  if (typeof p.seen === 'boolean') return p.seen ? 'Seen' : 'Marked as not seen'
  return 'Changed'
}
