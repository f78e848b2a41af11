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

const by = (payload: Payload) => (payload.by ? ` by ${payload.by}` : '')

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
  'session:held': (p) => line('bad', 'Held', p.reason),
  'phase:entered': (p) => line('phase', `Phase ${p.phase}${again(p.visit)}`, itemsOf(p.items)),
  'phase:exited': (p) =>
    line('phase', `Left ${p.phase}`, p.next ? `on to ${p.next}` : p.reason !== 'next' && p.reason),
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
  'state:checkpoint': () => line('state', 'State kept whole'),
  'input:requested': (p) => line('person', 'Question', p.prompt),
  'input:claimed': (p) => line('person', `${p.by} sees to it`),
  'input:released': () => line('person', 'The claim was given back'),
  'input:contributed': (p) => line('person', `One of several decided${by(p)}`, verdict(p)),
  'input:received': (p) => line('person', `Answered${by(p)}`, verdict(p)),
  'input:cancelled': (p) => line('person', `Question taken back${by(p)}`, p.reason),
  'input:expired': (p) => line('person', 'The deadline passed', verdict(p)),
  'input:failed': (p) => line('bad', 'The conversation failed', p.error),
  'input:reminded': () => line('person', 'The deadline passed; the question stays open'),
  'task:started': (p) => line('person', 'The workflow waits for this', p.title),
  'task:completed': (p) => line('person', 'The workflow waits for it no more', p.title),
  'input:escalated': (p) => line('person', 'Asked more people', p.to),
}

const again = (visit: unknown) => (Number(visit) > 1 ? `, visit ${visit}` : '')
const retry = (p: Payload) => (p.retryInMs ? `; again in ${length(Number(p.retryInMs))}` : '')
const itemsOf = (items: unknown) => (Array.isArray(items) ? `${items.length} items` : '')
const messageOf = (error: unknown) => (error as { message?: string } | null)?.message ?? error

function verdict(p: Payload): unknown {
  if (p.approved === true) return 'Approved'
  if (p.approved === false) return 'Rejected'
  return p.value
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
