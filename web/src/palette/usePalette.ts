import { useEffect, useState } from 'react'
import { type Shortcut, shortcuts, useShortcut } from '../shell/shortcuts'
import { text as shell } from '../shell/text'
import { text } from './text'

export const MODIFIER = /Mac|iP(hone|ad)/.test(navigator.platform) ? '⌘' : 'Ctrl'

/** The palette, opened with Ctrl-K or ⌘-K wherever the focus is, but not over another dialog. */
export function usePalette() {
  const [actions, setActions] = useState<ReadonlyArray<Shortcut> | null>(null)
  const open = () => setActions(shortcuts())
  const close = () => setActions(null)
  useShortcut(shell.everywhere, `${MODIFIER}+K`, text.opens, open)
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!isMeant(event)) return
      event.preventDefault()
      const dialog = document.querySelector('dialog[open]')
      if (!dialog) setActions(shortcuts())
      else if (dialog.classList.contains('palette')) setActions(null)
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [])
  return { actions, open, close }
}

function isMeant({ key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !shiftKey && !altKey
}
