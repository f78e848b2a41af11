import { useLayoutEffect, useRef } from 'react'

export interface Shortcut {
  /** One key, or two after each other: `g i`. As `KeyboardEvent.key` spells them. */
  readonly keys: string
  readonly label: string
  readonly group: string
  readonly run: () => void
}

const registered = new Set<{ current: Shortcut }>()
const SEQUENCE_WITHIN = 1200
const MOVING: ReadonlySet<string> = new Set(['j', 'k', '[', ']', 'ArrowLeft', 'ArrowRight'])
let first: { key: string; at: number } | null = null

/** Whether the person is writing, so that letters are letters. */
function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.matches('textarea, select, input:not([type=range], [type=checkbox], [type=radio])')
  )
}

/** Enter and Space belong to the control that has the focus. */
function belongsToControl(event: KeyboardEvent): boolean {
  const { target, key } = event
  if (!(target instanceof HTMLElement)) return false
  if (key === 'Enter' || key === ' ')
    return target.matches('a, button, summary, [role=option], [role=slider]')
  return key.startsWith('Arrow') && target.matches('input')
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
  if (isWriting(event.target) || belongsToControl(event)) return
  // A key that is held down moves, and does nothing else twice.
  if (event.repeat && !MOVING.has(event.key)) return
  // A dialog has the keys to itself.
  if (document.querySelector('dialog[open]')) return
  const now = performance.now()
  const pair = first && now - first.at < SEQUENCE_WITHIN ? `${first.key} ${event.key}` : null
  first = { key: event.key, at: now }
  const found = find(pair) ?? find(event.key)
  if (!found) return
  event.preventDefault()
  first = null
  found.run()
}

function find(keys: string | null): Shortcut | undefined {
  // What was registered last belongs to what was opened last.
  return [...registered].reverse().find(({ current }) => current.keys === keys)?.current
}

/** Listen to the keys of the whole page. */
export function listen(): () => void {
  window.addEventListener('keydown', pressed)
  return () => window.removeEventListener('keydown', pressed)
}

/** The shortcuts that work now, for the page that lists them. */
export function shortcuts(): ReadonlyArray<Shortcut> {
  const seen = new Map<string, Shortcut>()
  for (const { current } of registered) seen.set(current.keys, current)
  return [...seen.values()]
}

/** Make a key do something while this component is there. */
export function useShortcut(group: string, keys: string, label: string, run: () => void): void {
  const ref = useRef<Shortcut>({ group, keys, label, run })
  // Before the browser paints: a key that can be seen can be pressed.
  useLayoutEffect(() => {
    ref.current = { group, keys, label, run }
  })
  useLayoutEffect(() => {
    registered.add(ref)
    return () => {
      registered.delete(ref)
    }
  }, [])
}
