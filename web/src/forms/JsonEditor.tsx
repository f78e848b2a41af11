import { JsonTree } from '../parts/JsonTree'
import { leave } from './Controls'
import { useField } from './context'
import type { Schema } from './schema'
import { text } from './text'

interface Props {
  readonly json: string
  readonly schema: Schema
  readonly onChange: (json: string) => void
}

/** The decision as JSON, beside the schema that it has to fit. */
export function JsonEditor({ json, schema, onChange }: Props) {
  const { id, fault, faultId } = useField('')
  return (
    <>
      <div className="field">
        <label htmlFor={id}>{text.json}</label>
        <textarea
          id={id}
          className="input input--code"
          rows={8}
          spellCheck={false}
          aria-required
          aria-invalid={fault !== null}
          aria-describedby={fault ? faultId : undefined}
          value={json}
          onChange={(event) => onChange(event.target.value)}
          onKeyDown={leave}
        />
        {fault && (
          <span className="field__fault" id={faultId}>
            {fault}
          </span>
        )}
      </div>
      <details className="folded">
        <summary>{text.schema}</summary>
        <JsonTree value={schema} label={text.schema} height={260} />
      </details>
    </>
  )
}
