import type { CommentOnLine } from '@callboard/react'
import { useCallback, useSyncExternalStore } from 'react'

/** A comment that was not sent yet. */
export interface Comment extends CommentOnLine {
  readonly id: string
  readonly side: 'old' | 'new'
}

const NONE: ReadonlyArray<Comment> = []
const known = new Map<string, ReadonlyArray<Comment>>()
const listeners = new Set<() => void>()
const keyOf = (plateId: string) => `callboard.comments.${plateId}`

/** The comments on an agent's changes that were not sent yet, kept in this browser. */
export function useTray(plateId: string) {
  const comments = useSyncExternalStore(subscribe, () => read(plateId))
  const put = useCallback((next: ReadonlyArray<Comment>) => write(plateId, next), [plateId])
  return {
    comments,
    add: (comment: Omit<Comment, 'id'>) => put([...comments, { ...comment, id: newId() }]),
    change: (id: string, text: string) =>
      put(comments.map((one) => (one.id === id ? { ...one, text } : one))),
    remove: (id: string) => put(comments.filter((one) => one.id !== id)),
    clear: () => put(NONE),
  }
}

export type Tray = ReturnType<typeof useTray>

function subscribe(listener: () => void): () => void {
  // Another tab of this browser may change them too.
  const hear = () => {
    known.clear()
    listener()
  }
  listeners.add(listener)
  window.addEventListener('storage', hear)
  return () => {
    listeners.delete(listener)
    window.removeEventListener('storage', hear)
  }
}

function read(plateId: string): ReadonlyArray<Comment> {
  let found = known.get(plateId)
  if (!found) {
    found = stored(plateId)
    known.set(plateId, found)
  }
  return found
}

function stored(plateId: string): ReadonlyArray<Comment> {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(keyOf(plateId)) ?? '[]')
    return Array.isArray(found) && found.length > 0 ? (found as Comment[]) : NONE
  } catch {
    return NONE
  }
}

function write(plateId: string, next: ReadonlyArray<Comment>): void {
  known.set(plateId, next)
  try {
    if (next.length === 0) localStorage.removeItem(keyOf(plateId))
    else localStorage.setItem(keyOf(plateId), JSON.stringify(next))
  } catch {
    // Without room, they stay for as long as the page does.
  }
  for (const listener of [...listeners]) listener()
}

/** Browsers have `crypto.randomUUID` only on secure pages. */
function newId(): string {
  return `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`
}
