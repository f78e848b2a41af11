import { isOpen, useInteraction } from '@callboard/react'
import { useState } from 'react'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Interaction } from '../server/types'

export interface Selection {
  readonly id: string | null
  readonly shown: Interaction | undefined
  readonly error: Error | null
  /** Whether there is another question to go on to. */
  readonly hasNext: boolean
  readonly move: (step: 1 | -1) => void
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
    if (target) navigate(to.inbox(target.id), { replace: true })
  }
  return { id, shown, error: shown ? null : error, hasNext: rest.length > 0, move }
}

/**
 * It stays when it has left the list, so that nobody answers the next question with a key that
 * was meant for this one.
 */
function usePinned(chosen: string | null, first: string | null): string | null {
  const [pinned, setPinned] = useState(chosen ?? first)
  const wanted = chosen ?? pinned ?? first
  if (wanted !== pinned) setPinned(wanted)
  return wanted
}
