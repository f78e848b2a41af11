import { isKnownEvent } from '@callboard/react'
import { length } from '../parts/times'
import { visible } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { text } from './text'

const say = text.events

export type Tone = 'plain' | 'phase' | 'agent' | 'person' | 'state' | 'good' | 'bad' | 'unknown'

/** What an event says, in a person's words. */
export interface Line {
  readonly tone: Tone
  readonly title: string
  readonly detail?: string
}

/** Tell an event. A name that is not known here is told as it is. */
export function describe(event: SerializedEvent): Line {
  if (!isKnownEvent(event)) {
    const title = visible(event.name)
    return { tone: 'unknown', title, detail: say.unknown }
  }
  return told(event, TELLERS)
}

/** Tell an event with the tellers that know it. */
export function told(event: SerializedEvent, tellers: Readonly<Record<string, Teller>>): Line {
  const { name, payload } = event
  try {
    return tellers[name]?.(payload) ?? { tone: 'unknown', title: name }
  } catch {
    // A payload of a version that came after this one: the raw event still says all there is.
    return { tone: 'unknown', title: name, detail: say.unknownShape }
  }
}

export type Payload = Readonly<Record<string, unknown>>
export type Teller = (payload: Payload) => Line

/** A line, with nothing hidden in it. */
export const line = (tone: Tone, title: string, detail?: unknown): Line =>
  detail === undefined || detail === null || detail === ''
    ? { tone, title: visible(title) }
    : { tone, title: visible(title), detail: shown(detail) }

const by = (payload: Payload) => (payload.by ? say.by(whoDid(payload)) : '')

/** Who did it: the name that was authenticated, and beside it the one that was only given. */
export function whoDid({ by: name, as }: Payload): string {
  return as ? say.as(String(name), String(as)) : String(name)
}

const TELLERS: Readonly<Record<string, Teller>> = {
  'workflow:started': (p) => line('good', say.started(by(p)), p.input),
  'workflow:completed': (p) =>
    line('good', say.completed, p.exitPhase ? say.after(String(p.exitPhase)) : ''),
  'workflow:failed': (p) => line('bad', say.failed, messageOf(p.error)),
  'workflow:cancelled': (p) => line('bad', say.cancelled(by(p)), p.reason),
  'workflow:pausing': (p) => line('plain', say.pausing(by(p)), p.reason),
  'workflow:paused': (p) => line('plain', say.paused(by(p)), p.reason),
  'workflow:resumed': (p) => line('plain', say.resumed(by(p))),
  'session:forked': (p) =>
    line(
      'good',
      say.forked(String(p.parentSessionId), String(p.forkPosition), by(p)),
      editsOf(p.edits),
    ),
  'session:titled': (p) => line('plain', say.renamed(by(p)), p.title),
  'session:held': (p) => line('bad', say.held, p.reason),
  'phase:entered': (p) =>
    line('phase', say.entered(String(p.phase), again(p.visit)), itemsOf(p.items)),
  'phase:exited': (p) =>
    p.reason === 'skipped'
      ? line('phase', say.skipped(String(p.phase)), p.next && say.next(String(p.next)))
      : p.next
        ? line('phase', say.left(String(p.phase), String(p.next)))
        : line('phase', say.over(String(p.phase)), p.reason !== 'next' && p.reason),
  'phase:failed': (p) =>
    line('bad', say.phaseFailed(String(p.phase), String(p.attempt), retry(p)), messageOf(p.error)),
  'agent:started': (p) =>
    line(
      'agent',
      say.agentStarted(
        String(p.agent),
        Number(p.attempt) > 1 ? say.attempt(String(p.attempt)) : '',
      ),
      p.model,
    ),
  'agent:completed': (p) =>
    line('agent', say.agentFinished(String(p.agent), length(Number(p.durationMs))), p.output),
  'agent:interrupted': (p) =>
    p.reason === 'postponed'
      ? line('agent', say.postponed(String(p.agent), retry(p)), messageOf(p.error))
      : line('agent', say.interrupted(String(p.agent)), p.reason),
  'agent:emitted': (p) => line('agent', say.emitted(String(p.agent), String(p.name)), p.data),
  'once:completed': (p) => line('agent', say.once(String(p.key)), p.value),
  'text:delta': (p) => line('agent', say.says(String(p.agent)), p.delta),
  'thinking:delta': (p) => line('agent', say.thinks(String(p.agent)), p.delta),
  'tool:called': (p) => line('agent', say.uses(String(p.agent), String(p.toolName)), p.input),
  'tool:result': (p) => line(p.isError ? 'bad' : 'agent', say.toolResult, p.output),
  'state:intent': (p) => line('state', say.state, pathsOf(p.patches)),
  'state:checkpoint': () => line('state', say.snapshot),
  'input:requested': (p) => line('person', say.question, p.prompt),
  'input:detached': () => line('person', say.detached),
  'input:assigned': (p) => {
    const names = Array.isArray(p.to) ? p.to.join(', ') : ''
    return line('person', names ? say.assigned(names, by(p)) : say.unassigned(by(p)))
  },
  'input:claimed': (p) => line('person', say.claimed(String(p.by))),
  'input:released': () => line('person', say.released),
  'input:contributed': (p) => line('person', say.contributed(by(p)), verdict(p)),
  'input:accepted': (p) => line('person', say.accepted(by(p)), verdict(p)),
  'input:received': (p) => outcome(p) ?? line('person', say.answered(place(p)), verdict(p)),
  'input:corrected': (p) =>
    line(
      RECEIPTS[String(p.receipt)]?.tone ?? 'person',
      say.corrected(
        RECEIPTS[String(p.receipt)]?.title ?? ENDS[String(p.status)] ?? String(p.status),
      ),
      verdict(p) ?? (p.receipt && ENDS[String(p.status)]),
    ),
  'input:cancelled': (p) => outcome(p) ?? line('person', say.withdrawn(by(p)), p.reason),
  'input:expired': (p) => line('person', say.expired, verdict(p)),
  'input:failed': (p) => line('bad', say.conversationFailed, p.error),
  'input:reminded': () => line('person', say.reminded),
  'task:started': (p) => line('person', say.taskStarted, p.title),
  'task:completed': (p) => line('person', say.taskCompleted, p.title),
  'input:escalated': (p) => line('person', say.escalated, p.to),
}

const RECEIPTS: Readonly<Record<string, { readonly tone: Tone; readonly title: string }>> = {
  delivered: { tone: 'good', title: say.delivered },
  overruled: { tone: 'bad', title: say.overruled },
  lost: { tone: 'bad', title: say.lost },
}

const ENDS: Readonly<Record<string, string>> = {
  completed: say.endedAnswered,
  cancelled: say.endedDismissed,
}

/** What became of an answer to a coding agent; null for questions that are answered at once. */
function outcome(p: Payload): Line | null {
  const found = RECEIPTS[String(p.receipt)]
  if (!found) return null
  const who = p.receipt === 'delivered' ? by(p) : ''
  return line(found.tone, who ? say.deliveredBy(who) : found.title, verdict(p) ?? p.reason)
}

const place = (p: Payload) => (p.via === 'terminal' ? say.inTerminal : by(p))

const again = (visit: unknown) => (Number(visit) > 1 ? say.visit(String(visit)) : '')
const retry = (p: Payload) => (p.retryInMs ? say.retryIn(length(Number(p.retryInMs))) : '')
const itemsOf = (items: unknown) => (Array.isArray(items) ? say.items(items.length) : '')
const messageOf = (error: unknown) => (error as { message?: string } | null)?.message ?? error

/** What was answered: `response` is what an agent gets, `value` what a workflow gets. */
function verdict(p: Payload): unknown {
  const given = p.response ?? p.value
  const told = typeof given === 'object' && given !== null ? (given as Payload) : {}
  const approved = p.approved ?? told.approved
  const remark = p.message ?? told.message ?? told.feedback
  const why = typeof remark === 'string' && remark ? say.why(remark) : ''
  if (approved === true) return told.always === true ? say.approvedAlways : say.approved
  if (approved === false) return say.rejected(why)
  return told.answers ?? given
}

function pathsOf(patches: unknown): string {
  if (!Array.isArray(patches)) return ''
  const heads = patches.map((patch: { path: string }) => patch.path.split('/')[1] || say.everything)
  return [...new Set(heads)].join(', ')
}

function editsOf(edits: unknown): string {
  if (!Array.isArray(edits)) return ''
  return say.edits(edits.length, pathsOf(edits))
}

const LONGEST = 600

/** A value on one line, or text as it is; never more than a screen of it. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return visible(text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text)
}
