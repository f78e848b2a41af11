import { type ReactNode, useSyncExternalStore } from 'react'
import { StopIcon } from './icons'
import { text } from './text'

interface Toast {
  readonly id: number
  readonly content: ReactNode
}

const SHOWN_FOR = 8000
let toasts: ReadonlyArray<Toast> = []
let next = 1
const listeners = new Set<() => void>()

function set(changed: ReadonlyArray<Toast>): void {
  toasts = changed
  for (const listener of listeners) listener()
}

function drop(id: number): void {
  set(toasts.filter((toast) => toast.id !== id))
}

/** Say something in passing. Nothing that has to be read may be said only here. */
export function say(content: ReactNode): void {
  const id = next++
  set([...toasts.slice(-2), { id, content }])
  window.setTimeout(() => drop(id), SHOWN_FOR)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** What was said lately. */
export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts)
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, content }) => (
        <div className="toast" key={id}>
          <span className="grow">{content}</span>
          <button type="button" aria-label={text.dismiss} onClick={() => drop(id)}>
            <StopIcon />
          </button>
        </div>
      ))}
    </div>
  )
}
