import { type FormEvent, useId, useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { StopIcon } from '../parts/icons'
import { visible } from '../parts/visible'
import { Link } from '../router/Link'
import { text } from './text'
import { inboxAddress } from './useFilters'
import { removeView, savedViews, saveView, type View } from './views'

const MINE: View = { name: text.views.mine, search: 'assigned=me' }
const LONGEST = 40

/** Sets of filters under a name: two that are always there, and those that were saved. */
export function Views({ search }: { readonly search: string }) {
  const [saved, setSaved] = useState(savedViews)
  const [isSaving, setSaving] = useState(false)
  const known = [{ name: text.views.all, search: '' }, MINE]
  const isKnown = [...known, ...saved].some((view) => view.search === search)
  return (
    <div className="views row">
      <nav aria-label={text.views.label}>
        <ul className="views__list">
          {known.map((view) => (
            <li key={view.name}>
              <ViewLink view={view} search={search} />
            </li>
          ))}
          {saved.map((view) => (
            <li key={view.name}>
              <ViewLink view={view} search={search} />
              {view.search === search && (
                <button
                  type="button"
                  className="views__remove"
                  aria-label={text.views.remove(visible(view.name))}
                  onClick={() => setSaved(removeView(view.name))}
                >
                  <StopIcon />
                </button>
              )}
            </li>
          ))}
        </ul>
      </nav>
      {!isKnown && (
        <button type="button" className="button button--plain" onClick={() => setSaving(true)}>
          {text.views.save}
        </button>
      )}
      {isSaving && (
        <SaveDialog
          onClose={() => setSaving(false)}
          onSave={(name) => {
            setSaved(saveView({ name, search }))
            setSaving(false)
          }}
        />
      )}
    </div>
  )
}

function ViewLink({ view, search }: { readonly view: View; readonly search: string }) {
  return (
    <Link
      className="views__one"
      to={inboxAddress(null, view.search)}
      aria-current={view.search === search ? 'true' : undefined}
    >
      {visible(view.name)}
    </Link>
  )
}

interface SaveProps {
  readonly onClose: () => void
  readonly onSave: (name: string) => void
}

function SaveDialog({ onClose, onSave }: SaveProps) {
  const [name, setName] = useState('')
  const id = useId()
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim()) onSave(name.trim())
  }
  return (
    <Dialog title={text.views.saveTitle} onClose={onClose}>
      <form onSubmit={save}>
        <p className="quiet">{text.views.what}</p>
        <div className="field">
          <label htmlFor={id}>{text.views.name}</label>
          <input
            id={id}
            className="input"
            maxLength={LONGEST}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <div className="dialog__foot">
          <button type="button" className="button" onClick={onClose}>
            {text.views.cancel}
          </button>
          <button type="submit" className="button button--lamp" disabled={!name.trim()}>
            {text.views.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
