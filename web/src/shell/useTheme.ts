import { useEffect, useSyncExternalStore } from 'react'

export type Theme = 'light' | 'dark'

const KEY = 'callboard.theme'
const listeners = new Set<() => void>()
const wantsDark = window.matchMedia('(prefers-color-scheme: dark)')

function stored(): Theme | null {
  const found = window.localStorage.getItem(KEY)
  return found === 'light' || found === 'dark' ? found : null
}

function current(): Theme {
  return stored() ?? (wantsDark.matches ? 'dark' : 'light')
}

function tell(): void {
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  wantsDark.addEventListener('change', tell)
  return () => {
    listeners.delete(listener)
    wantsDark.removeEventListener('change', tell)
  }
}

/** Put the theme on the page; called once before the first paint too. */
export function applyTheme(theme: Theme = current()): void {
  document.documentElement.dataset.theme = theme
}

export const CHOICES = ['light', 'dark', 'system'] as const
export type Choice = (typeof CHOICES)[number]

function choose(choice: Choice): void {
  if (choice === 'system') window.localStorage.removeItem(KEY)
  else window.localStorage.setItem(KEY, choice)
  tell()
}

/** The theme: the system's, until another one is chosen here. */
export function useTheme() {
  const choice: Choice = useSyncExternalStore(subscribe, stored) ?? 'system'
  const theme = useSyncExternalStore(subscribe, current)
  useEffect(() => applyTheme(theme), [theme])
  const toggle = () => {
    const other: Theme = theme === 'dark' ? 'light' : 'dark'
    const system: Theme = wantsDark.matches ? 'dark' : 'light'
    // Back at what the system says, follow the system again.
    choose(other === system ? 'system' : other)
  }
  return { theme, toggle, choice, choose }
}
