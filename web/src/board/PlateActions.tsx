import { type FormEvent, useId, useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { EyeIcon, PenIcon, PinIcon, StopIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import type { Plate } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { titleOf } from './names'
import { usePlateActions } from './usePlateActions'

interface Props {
  readonly plate: Plate
  readonly keys: boolean
}

/** Pin, name, mark as seen, dismiss. */
export function PlateActions({ plate, keys }: Props) {
  const { error, togglePin, toggleSeen, rename, dismiss } = usePlateActions(plate)
  const [naming, setNaming] = useState(false)
  const title = titleOf(plate)
  return (
    <div className="plate__actions">
      <div className="row">
        <button
          type="button"
          className="button button--plain"
          aria-pressed={plate.pinned}
          aria-label={`Pin ${title}`}
          title={plate.pinned ? 'Unpin' : 'Pin'}
          onClick={togglePin}
        >
          <PinIcon />
        </button>
        <button
          type="button"
          className="button button--plain"
          aria-label={`Name ${title}`}
          title="Name"
          onClick={() => setNaming(true)}
        >
          <PenIcon />
        </button>
        <button
          type="button"
          className="button button--plain"
          aria-pressed={!plate.unseen}
          aria-label={`Seen ${title}`}
          title={plate.unseen ? 'Mark as seen' : 'Mark as not seen'}
          onClick={toggleSeen}
        >
          <EyeIcon />
        </button>
        <button
          type="button"
          className="button button--plain"
          aria-label={`Dismiss ${title}`}
          title="Dismiss"
          onClick={dismiss}
        >
          <StopIcon />
        </button>
      </div>
      {error && <Problem error={error} />}
      {keys && (
        <Keys pin={togglePin} seen={toggleSeen} name={() => setNaming(true)} dismiss={dismiss} />
      )}
      {naming && <NameDialog plate={plate} rename={rename} onClose={() => setNaming(false)} />}
    </div>
  )
}

interface KeysProps {
  readonly pin: () => void
  readonly seen: () => void
  readonly name: () => void
  readonly dismiss: () => void
}

function Keys({ pin, seen, name, dismiss }: KeysProps) {
  useShortcut('This plate', 'p', 'Pin it', pin)
  useShortcut('This plate', 'm', 'Mark it as seen, or not', seen)
  useShortcut('This plate', 'e', 'Name it', name)
  useShortcut('This plate', 'x', 'Dismiss it', dismiss)
  return null
}

interface NameProps {
  readonly plate: Plate
  readonly rename: (name: string) => void
  readonly onClose: () => void
}

function NameDialog({ plate, rename, onClose }: NameProps) {
  const [name, setName] = useState(plate.name ?? '')
  const id = useId()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename(name.trim())
    onClose()
  }
  return (
    <Dialog title={`Name ${titleOf(plate)}`} onClose={onClose}>
      <form className="startform" aria-label="Name" onSubmit={submit}>
        <div className="field">
          <label htmlFor={id}>Name</label>
          <input
            id={id}
            className="input"
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <span className="field__hint">Defaults to the project name.</span>
        </div>
        <div className="dialog__foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button--lamp">
            Name it
          </button>
        </div>
      </form>
    </Dialog>
  )
}
