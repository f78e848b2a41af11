import { type FormEvent, useId, useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { EyeIcon, PenIcon, PinIcon, StopIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import type { Plate } from '../server/types'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { titleOf } from './names'
import { text } from './text'
import { usePlateActions } from './usePlateActions'

const words = text.actions

interface Props {
  readonly plate: Plate
  readonly keys: boolean
}

/** Pin, rename, mark as seen, dismiss. */
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
          aria-label={words.pin(title)}
          title={plate.pinned ? words.unpinHint : words.pinHint}
          onClick={togglePin}
        >
          <PinIcon />
        </button>
        <button
          type="button"
          className="button button--plain"
          aria-label={words.rename(title)}
          title={words.renameHint}
          onClick={() => setNaming(true)}
        >
          <PenIcon />
        </button>
        <button
          type="button"
          className="button button--plain"
          aria-pressed={!plate.unseen}
          aria-label={words.seen(title)}
          title={plate.unseen ? words.seenHint : words.unseenHint}
          onClick={toggleSeen}
        >
          <EyeIcon />
        </button>
        <button
          type="button"
          className="button button--plain"
          aria-label={words.dismiss(title)}
          title={words.dismissHint}
          onClick={dismiss}
        >
          <StopIcon />
        </button>
      </div>
      {error && <Problem error={error} />}
      {keys && (
        <Keys pin={togglePin} seen={toggleSeen} name={() => setNaming(true)} dismiss={dismiss} />
      )}
      {keys && plate.interactionId === null && plate.waitingFor === null && (
        <RenameKey keys={KEYS.no} name={() => setNaming(true)} />
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
  useShortcut(text.keys.plate, KEYS.pin, text.keys.pin, pin)
  useShortcut(text.keys.plate, KEYS.seen, text.keys.seen, seen)
  useShortcut(text.keys.plate, KEYS.rename, text.keys.rename, name)
  useShortcut(text.keys.plate, KEYS.dismiss, text.keys.dismiss, dismiss)
  return null
}

/** The key of a no is free while there is nothing to say no to. */
function RenameKey({ keys, name }: { readonly keys: string; readonly name: () => void }) {
  useShortcut(text.keys.plate, keys, text.keys.rename, name)
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
    <Dialog title={words.rename(titleOf(plate))} onClose={onClose}>
      <form className="startform" aria-label={words.name} onSubmit={submit}>
        <div className="field">
          <label htmlFor={id}>{words.name}</label>
          <input
            id={id}
            className="input"
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <span className="field__hint">{words.nameHint}</span>
        </div>
        <div className="dialog__foot">
          <button type="button" className="button" onClick={onClose}>
            {words.cancel}
          </button>
          <button type="submit" className="button button--lamp">
            {words.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
