import { isOpen, useInteraction } from '@callboard/react'
import { useEffect, useState } from 'react'
import { askOf } from '../asks/ask'
import { noteMoved, onReturn, wantFocus } from '../outbox/moving'
import { isHeld } from '../outbox/outbox'
import { navigate } from '../router/navigation'
import type { Interaction } from '../server/types'
import { inboxAddress } from './useFilters'

export interface Selection {
  readonly id: string | null
  readonly shown: Interaction | undefined
  readonly error: Error | null
  /** Whether there is another question to continue to. */
  readonly hasNext: boolean
  readonly move: (step: 1 | -1) => void
  /**
   * Go to the next question that is not answered yet, with the focus; stay if all are. A
   * coding agent's is left to a click: what it is allowed cannot be taken back.
   */
  readonly moveOn: () => void
}

/** The question that is shown: the one of the address, else the first. */
export function useSelection(
  chosen: string | null,
  questions: ReadonlyArray<Interaction>,
): Selection {
  const id = usePinned(chosen, questions[0]?.id ?? null)
  const { interaction, error } = useInteraction(id)
  const index = questions.findIndex((one) => one.id === id)
  // The list may be a moment behind; what is closed must not be asked any more.
  const isClosed = interaction !== undefined && !isOpen(interaction)
  const shown = isClosed ? interaction : (questions[index] ?? interaction)
  const rest = questions.filter((one) => one.id !== id)
  const move = (step: 1 | -1) => {
    const target = index < 0 ? questions[0] : questions[index + step]
    if (target) show(target.id)
  }
  const moveOn = () => {
    const isNext = (one: Interaction) => one.id !== id && !isHeld(one.id) && !askOf(one)
    const waiting = questions.filter(isNext)
    const next = waiting.find((one) => questions.indexOf(one) > index) ?? waiting[0]
    if (!next) return
    noteMoved()
    wantFocus()
    show(next.id)
  }
  useEffect(
    () =>
      onReturn((undone) => {
        if (undone === id) focusPrompt()
        else {
          wantFocus()
          show(undone)
        }
        return true
      }),
    [id],
  )
  return { id, shown, error: shown ? null : error, hasNext: rest.length > 0, move, moveOn }
}

/** Give the focus to the question that is shown. */
export function focusPrompt(): void {
  document.getElementById('prompt')?.focus({ preventScroll: true })
}

/** From its start: where the page was scrolled to, the end of it would count as read. */
function show(id: string): void {
  window.scrollTo(0, 0)
  navigate(inboxAddress(id), { replace: true })
}

/**
 * It stays when it has left the list, so that no one answers the next question with a key that
 * was meant for this one.
 */
function usePinned(chosen: string | null, first: string | null): string | null {
  const [pinned, setPinned] = useState(chosen ?? first)
  const wanted = chosen ?? pinned ?? first
  if (wanted !== pinned) setPinned(wanted)
  return wanted
}
