import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { text } from './text'
import { TEAM } from './useTeam'

interface ConfirmProps {
  readonly title: string
  readonly why: string
  readonly action: string
  readonly done: string
  readonly work: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks before something is taken from the team, does it, and says that it is done. */
export function Confirm({ title, why, action, done, work, onClose }: ConfirmProps) {
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: work,
    onSuccess: () => {
      say(done)
      void queries.invalidateQueries({ queryKey: [TEAM] })
      onClose()
    },
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{why}</p>
      {error && <Problem error={error} />}
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.cancel}
        </button>
        <button
          type="button"
          className="button button--danger"
          disabled={isPending}
          onClick={() => mutate()}
        >
          {action}
        </button>
      </div>
    </Dialog>
  )
}
