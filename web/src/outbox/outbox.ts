import { useSyncExternalStore } from 'react'

/** Answers that were given together: they are shown, and taken back, as one. */
export interface Batch {
  readonly id: string
  readonly title: string
}

/** An answer that can still be taken back, or is on its way. */
export interface Outgoing {
  /** The question. */
  readonly id: string
  readonly title: string
  /** How it is sent: a question is answered, an interactive session is completed. */
  readonly route: 'answer' | 'complete'
  /** The body that is sent. */
  readonly given: object
  readonly isSending: boolean
  readonly batch: Batch | null
}

interface Entry extends Outgoing {
  readonly send: () => Promise<unknown>
  readonly timer: number
}

/** How long an answer can be taken back. */
export const UNDO_MS = 5_000

/** A page that is left can send no more than 64 KiB, all its requests together. */
const LARGEST_LAST = 60_000

let entries: ReadonlyArray<Entry> = []
let batches = 0
const listeners = new Set<() => void>()

function set(changed: ReadonlyArray<Entry>): void {
  entries = changed
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The answers that are not with the server yet, oldest first. */
export function useOutbox(): ReadonlyArray<Outgoing> {
  return useSyncExternalStore(subscribe, () => entries)
}

/** Whether an answer to this question is not with the server yet. */
export function isHeld(id: string): boolean {
  return entries.some((entry) => entry.id === id)
}

/** Answers that are given together from now on. */
export function newBatch(title: string): Batch {
  batches += 1
  return { id: `batch ${batches}`, title }
}

/** Whether an answer may wait: before its deadline, and if a page that is left can send it with the others. */
export function canWait(given: object, deadline: string | null): boolean {
  const left = deadline === null ? Number.POSITIVE_INFINITY : Date.parse(deadline) - Date.now()
  const size = entries.reduce((total, one) => total + sizeOf(one.given), sizeOf(given))
  return left > 2 * UNDO_MS && size <= LARGEST_LAST
}

function sizeOf(given: object): number {
  return new Blob([JSON.stringify(given)]).size
}

type Held = Omit<Entry, 'isSending' | 'timer' | 'batch'> & { readonly batch?: Batch | null }

/** Send an answer in a few seconds, unless it is taken back before. */
export function hold(held: Held): void {
  // A new answer to the same question has all its time.
  window.clearTimeout(entries.find(({ id }) => id === held.id)?.timer)
  const timer = window.setTimeout(() => void release(held.id), UNDO_MS)
  const entry = { batch: null, ...held, timer, isSending: false }
  set([...entries.filter(({ id }) => id !== held.id), entry])
}

async function release(id: string): Promise<void> {
  const entry = entries.find((one) => one.id === id)
  if (!entry) return
  set(entries.map((one) => (one.id === id ? { ...one, isSending: true } : one)))
  try {
    await entry.send()
  } finally {
    set(entries.filter((one) => one.id !== id))
  }
}

/** Take an answer back, with those that were given together with it. */
export function undo({ id, batch }: Pick<Outgoing, 'id' | 'batch'>): void {
  const isMeant = (one: Entry) => (batch ? one.batch?.id === batch.id : one.id === id)
  const undone = entries.filter((one) => isMeant(one) && !one.isSending)
  for (const { timer } of undone) window.clearTimeout(timer)
  set(entries.filter((one) => !undone.includes(one)))
}

/** Send all of it at once: the page is being left. An answer that arrives twice counts once. */
function flush(): void {
  for (const { id, route, given, timer } of entries) {
    window.clearTimeout(timer)
    void fetch(`/interactions/${encodeURIComponent(id)}/${route}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(given),
      credentials: 'same-origin',
      keepalive: true,
    })
  }
  set([])
}

/** Send what is held when the page is left. */
export function listenForLeaving(): () => void {
  window.addEventListener('pagehide', flush)
  return () => window.removeEventListener('pagehide', flush)
}
