import { useWorkflowActions } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import { LONGEST_TITLE } from '../server/limits'
import type { Workflow } from '../server/types'
import { type Field, fieldsOf, inputOf } from './fields'
import { text } from './text'

interface Props {
  readonly workflows: ReadonlyArray<Workflow>
  readonly onClose: () => void
}

/** The form that starts a session, made from what the workflow says it takes. */
export function StartDialog({ workflows, onClose }: Props) {
  const [name, setName] = useState<string | null>(null)
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [title, setTitle] = useState('')
  const { create } = useWorkflowActions()
  const id = useId()
  const workflow = workflows.find((one) => one.id === name) ?? workflows[0]
  const fields = fieldsOf(workflow ?? {})
  const takesInput = fields.length > 0 || Boolean(workflow?.inputSchema)
  const filled = Object.fromEntries(
    fields.map((one) => [one.name, values[one.name] ?? one.initial]),
  )
  const start = useMutation({
    mutationFn: async () =>
      create(workflow?.id ?? '', takesInput ? inputOf(fields, filled) : undefined, {
        ...(title.trim() && { title }),
      }),
    onSuccess: (sessionId) => navigate(to.session(sessionId)),
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate()
  }
  if (!workflow) {
    return (
      <Dialog title={text.start.title} onClose={onClose}>
        <p>
          {text.start.noWorkflows} <code>{text.start.serve}</code>
        </p>
      </Dialog>
    )
  }
  return (
    <Dialog title={text.start.title} onClose={onClose}>
      <form className="startform" aria-label={text.start.title} onSubmit={submit}>
        <div className="field">
          <label htmlFor={id}>{text.start.workflow}</label>
          <select
            id={id}
            className="input"
            value={workflow.id}
            onChange={(event) => {
              setName(event.target.value)
              setValues({})
            }}
          >
            {workflows.map((one) => (
              <option key={one.id}>{one.id}</option>
            ))}
          </select>
          <span className="field__hint">
            {workflow.phases.map((phase) => phase.name).join(' → ')}
          </span>
        </div>
        {fields.map((field) => (
          <FieldInput
            key={`${workflow.id} ${field.name}`}
            field={field}
            value={filled[field.name] ?? ''}
            onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
          />
        ))}
        <div className="field">
          <label htmlFor={`${id}-title`}>{text.start.sessionTitle}</label>
          <input
            id={`${id}-title`}
            className="input"
            maxLength={LONGEST_TITLE}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
          <span className="field__hint">{text.start.titleHint}</span>
        </div>
        {start.error && <Problem error={start.error} />}
        <div className="dialog__foot">
          <button type="button" className="button" onClick={onClose}>
            {text.start.cancel}
          </button>
          <button type="submit" className="button button--lamp" disabled={start.isPending}>
            {text.start.submit}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface FieldProps {
  readonly field: Field
  readonly value: string
  readonly onChange: (value: string) => void
}

function FieldInput({ field, value, onChange }: FieldProps) {
  const id = useId()
  const options = field.kind === 'boolean' ? ['true', 'false'] : field.options
  const { hint, example } = field
  const described = hint ? `${id}-hint` : undefined
  const common = {
    id,
    className: 'input',
    value,
    required: field.required,
    'aria-describedby': described,
  }
  return (
    <div className="field">
      <label htmlFor={id}>{field.label}</label>
      {options ? (
        <select {...common} onChange={(event) => onChange(event.target.value)}>
          <option value="">{field.required ? text.start.choose : text.start.notGiven}</option>
          {options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <textarea
          {...common}
          rows={field.kind === 'json' ? 5 : 1}
          placeholder={example ?? undefined}
          inputMode={field.kind === 'number' || field.kind === 'integer' ? 'decimal' : 'text'}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {hint && (
        <span className="field__hint" id={described}>
          {hint}
        </span>
      )}
    </div>
  )
}
