import type { Edit } from '../server/types'
import { text } from './text'

/** A place in the state and what it is to be, as a person writes it. */
export interface FieldEdit {
  readonly id: number
  readonly path: string
  readonly value: string
}

/** The operations that are meant; raises an error that names the field. */
export function patchesOf(fields: ReadonlyArray<FieldEdit>): Edit[] {
  return fields
    .filter((field) => field.path.trim() !== '')
    .map(({ path, value }) => ({ op: 'add', path: pointer(path), value: jsonOf(path, value) }))
}

/** `plan.0` or `/plan/0`, whichever is easier to write. */
function pointer(path: string): string {
  return path.startsWith('/') ? path : `/${path.trim().replaceAll('.', '/')}`
}

function jsonOf(path: string, value: string): unknown {
  try {
    return JSON.parse(value) as unknown
  } catch {
    throw new Error(text.fields.invalid(path))
  }
}

interface Props {
  readonly fields: ReadonlyArray<FieldEdit>
  readonly onChange: (fields: ReadonlyArray<FieldEdit>) => void
}

/** Edits of a state that is too large to be written as a whole. */
export function FieldEdits({ fields, onChange }: Props) {
  const set = (id: number, change: Partial<FieldEdit>) =>
    onChange(fields.map((field) => (field.id === id ? { ...field, ...change } : field)))
  return (
    <fieldset className="field">
      <legend>{text.fields.legend}</legend>
      {fields.map(({ id, path, value }) => (
        <div className="fieldedit" key={id}>
          <input
            className="input mono"
            aria-label={text.fields.field}
            placeholder={text.fields.fieldExample}
            value={path}
            onChange={(event) => set(id, { path: event.target.value })}
          />
          <input
            className="input mono"
            aria-label={text.fields.value}
            placeholder={text.fields.valueExample}
            value={value}
            onChange={(event) => set(id, { value: event.target.value })}
          />
        </div>
      ))}
      <div className="row">
        <button
          type="button"
          className="button"
          onClick={() => onChange([...fields, { id: fields.length, path: '', value: '' }])}
        >
          {text.fields.another}
        </button>
        <span className="field__hint">{text.fields.hint}</span>
      </div>
    </fieldset>
  )
}
