import { useBoard } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { say } from '../parts/Toasts'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Plate } from '../server/types'
import { titleOf } from './names'
import { text } from './text'

/** What can be done with a plate; what goes wrong is in `error`. */
export function usePlateActions(plate: Plate) {
  const { pin, rename, markSeen, dismiss } = useBoard()
  const { plateId } = plate
  const action = useMutation({ mutationFn: (run: () => Promise<unknown>) => run() })
  const run = (what: () => Promise<unknown>) => {
    if (!action.isPending) action.mutate(what)
  }
  return {
    error: action.error,
    togglePin: () => run(() => pin(plateId, !plate.pinned)),
    toggleSeen: () => run(() => markSeen(plateId, plate.unseen)),
    rename: (name: string) => run(() => rename(plateId, name)),
    dismiss: () =>
      run(async () => {
        await dismiss(plateId)
        say(text.actions.dismissed(titleOf(plate)))
        if (window.location.pathname.endsWith(to.plate(plateId))) navigate(to.board())
      }),
  }
}
