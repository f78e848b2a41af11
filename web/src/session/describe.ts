import { isKnownEvent } from '@callboard/react'
import { length } from '../parts/times'
import { visible } from '../parts/visible'
import type { SerializedEvent } from '../server/types'

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
    return { tone: 'unknown', title, detail: 'This version does not know this event.' }
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
    return { tone: 'unknown', title: name, detail: 'Its payload has an unknown shape.' }
  }
}

export type Payload = Readonly<Record<string, unknown>>
export type Teller = (payload: Payload) => Line

/** A line, with nothing hidden in it. */
export const line = (tone: Tone, title: string, detail?: unknown): Line =>
  detail === undefined || detail === null || detail === ''
    ? { tone, title: visible(title) }
    : { tone, title: visible(title), detail: shown(detail) }

const by = (payload: Payload) => (payload.by ? ` by ${whoDid(payload)}` : '')

/** Who did it: the name that was authenticated, and beside it the one that was only given. */
export function whoDid({ by: name, as }: Payload): string {
  return as ? `${name}, as “${as}”` : String(name)
}

const TELLERS: Readonly<Record<string, Teller>> = {
  'workflow:started': (p) => line('good', `${p.workflow} began${by(p)}`, p.input),
  'workflow:completed': (p) => line('good', 'Completed', p.exitPhase ? `after ${p.exitPhase}` : ''),
  'workflow:failed': (p) => line('bad', 'Failed', messageOf(p.error)),
  'workflow:cancelled': (p) => line('bad', `Cancelled${by(p)}`, p.reason),
  'workflow:pausing': (p) => line('plain', `Pause asked for${by(p)}`, p.reason),
  'workflow:paused': (p) => line('plain', `Paused${by(p)}`, p.reason),
  'workflow:resumed': (p) => line('plain', `Resumed${by(p)}`),
  'session:forked': (p) =>
    line('good', `Fork of ${p.parentSessionId} at ${p.forkPosition}${by(p)}`, editsOf(p.edits)),
  'session:titled': (p) => line('plain', `Renamed${by(p)}`, p.title),
  'session:held': (p) => line('bad', 'Held', p.reason),
  'phase:entered': (p) => line('phase', `Phase ${p.phase}${again(p.visit)}`, itemsOf(p.items)),
  'phase:exited': (p) =>
    p.reason === 'skipped'
      ? line('phase', `Skipped ${p.phase}`, p.next && `on to ${p.next}`)
      : line(
          'phase',
          `Left ${p.phase}`,
          p.next ? `on to ${p.next}` : p.reason !== 'next' && p.reason,
        ),
  'phase:failed': (p) =>
    line('bad', `${p.phase} failed, attempt ${p.attempt}${retry(p)}`, messageOf(p.error)),
  'agent:started': (p) =>
    line(
      'agent',
      `${p.agent} starts${Number(p.attempt) > 1 ? `, attempt ${p.attempt}` : ''}`,
      p.model,
    ),
  'agent:completed': (p) =>
    line('agent', `${p.agent} is done in ${length(Number(p.durationMs))}`, p.output),
  'agent:interrupted': (p) =>
    p.reason === 'postponed'
      ? line('agent', `${p.agent} cannot work yet${retry(p)}`, messageOf(p.error))
      : line('agent', `${p.agent} was taken off`, p.reason),
  'agent:emitted': (p) => line('agent', `${p.agent}: ${p.name}`, p.data),
  'once:completed': (p) => line('agent', `Done once: ${p.key}`, p.value),
  'text:delta': (p) => line('agent', `${p.agent} says`, p.delta),
  'thinking:delta': (p) => line('agent', `${p.agent} thinks`, p.delta),
  'tool:called': (p) => line('agent', `${p.agent} uses ${p.toolName}`, p.input),
  'tool:result': (p) => line(p.isError ? 'bad' : 'agent', 'Tool answered', p.output),
  'state:intent': (p) => line('state', 'State changed', pathsOf(p.patches)),
  'state:checkpoint': () => line('state', 'Snapshot saved'),
  'input:requested': (p) => line('person', 'Question', p.prompt),
  'input:detached': () => line('person', 'Left open when the workflow ended'),
  'input:claimed': (p) => line('person', `${p.by} sees to it`),
  'input:released': () => line('person', 'The claim was given back'),
  'input:contributed': (p) => line('person', `One of several decided${by(p)}`, verdict(p)),
  'input:accepted': (p) =>
    line('person', `Answer accepted${by(p)}, waiting for the agent to confirm`, verdict(p)),
  'input:received': (p) => outcome(p) ?? line('person', `Answered${place(p)}`, verdict(p)),
  'input:corrected': (p) =>
    line(
      RECEIPTS[String(p.receipt)]?.tone ?? 'person',
      `Corrected: ${RECEIPTS[String(p.receipt)]?.title ?? ENDS[String(p.status)] ?? p.status}`,
      verdict(p) ?? (p.receipt && ENDS[String(p.status)]),
    ),
  'input:cancelled': (p) => outcome(p) ?? line('person', `Question withdrawn${by(p)}`, p.reason),
  'input:expired': (p) => line('person', 'The deadline passed', verdict(p)),
  'input:failed': (p) => line('bad', 'The conversation failed', p.error),
  'input:reminded': () => line('person', 'The deadline passed; the question stays open'),
  'task:started': (p) => line('person', 'The workflow waits for this', p.title),
  'task:completed': (p) => line('person', 'The workflow waits for it no more', p.title),
  'input:escalated': (p) => line('person', 'Asked more people', p.to),
}

const RECEIPTS: Readonly<Record<string, { readonly tone: Tone; readonly title: string }>> = {
  delivered: { tone: 'good', title: 'Delivered' },
  overruled: { tone: 'bad', title: 'Overruled in the terminal' },
  lost: { tone: 'bad', title: 'Lost: the agent stopped before it got the answer' },
}

const ENDS: Readonly<Record<string, string>> = {
  completed: 'Answered in the terminal',
  cancelled: 'Dismissed in the terminal',
}

/** What became of an answer to a coding agent; null for questions that are answered at once. */
function outcome(p: Payload): Line | null {
  const found = RECEIPTS[String(p.receipt)]
  if (!found) return null
  const who = p.receipt === 'delivered' ? by(p) : ''
  return line(found.tone, `${found.title}${who && `: answered${who}`}`, verdict(p) ?? p.reason)
}

const place = (p: Payload) => (p.via === 'terminal' ? ' in the terminal' : by(p))

const again = (visit: unknown) => (Number(visit) > 1 ? `, visit ${visit}` : '')
const retry = (p: Payload) => (p.retryInMs ? `; again in ${length(Number(p.retryInMs))}` : '')
const itemsOf = (items: unknown) => (Array.isArray(items) ? `${items.length} items` : '')
const messageOf = (error: unknown) => (error as { message?: string } | null)?.message ?? error

/** What was answered: `response` is what an agent gets, `value` what a workflow gets. */
function verdict(p: Payload): unknown {
  const given = p.response ?? p.value
  const told = typeof given === 'object' && given !== null ? (given as Payload) : {}
  const approved = p.approved ?? told.approved
  const remark = p.message ?? told.message ?? told.feedback
  const why = typeof remark === 'string' && remark ? `: “${remark}”` : ''
  if (approved === true) return `Approved${told.always === true ? ', always' : ''}`
  if (approved === false) return `Rejected${why}`
  return told.answers ?? given
}

function pathsOf(patches: unknown): string {
  if (!Array.isArray(patches)) return ''
  const heads = patches.map((patch: { path: string }) => patch.path.split('/')[1] || 'everything')
  return [...new Set(heads)].join(', ')
}

function editsOf(edits: unknown): string {
  if (!Array.isArray(edits)) return ''
  return `with ${edits.length === 1 ? 'one edit' : `${edits.length} edits`}: ${pathsOf(edits)}`
}

const LONGEST = 600

/** A value on one line, or text as it is; never more than a screen of it. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return visible(text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text)
}
