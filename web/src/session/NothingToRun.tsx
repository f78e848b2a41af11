import { Dialog } from '../parts/Dialog'
import { onOneLine } from '../parts/visible'
import type { EarlierPoint } from './forking'
import { text } from './text'

interface Props {
  readonly position: number
  readonly earlier: EarlierPoint | null
  readonly onMove: (position: number) => void
  readonly onClose: () => void
}

/** Why a fork at the end of a completed session is useless, and where to fork instead. */
export function NothingToRun({ position, earlier, onMove, onClose }: Props) {
  const words = text.nothingToRun
  return (
    <Dialog title={words.title(position)} onClose={onClose}>
      <p>{words.why}</p>
      <p className="quiet">{words.elsewhere}</p>
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {words.cancel}
        </button>
        {earlier && (
          <button
            type="button"
            className="button button--lamp"
            onClick={() => onMove(earlier.position)}
          >
            {words.earlier(onOneLine(earlier.phase))}
          </button>
        )}
      </div>
    </Dialog>
  )
}
