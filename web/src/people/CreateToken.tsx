import { type NewToken, type Token, useWorkflowClient } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { text } from './text'

const SCOPES: ReadonlyArray<Token['scope']> = ['read', 'answer', 'operate', 'admin', 'hook']
const LIVES = ['30', '90', '365', 'never'] as const
const DAY_MS = 86_400_000
const LONGEST = 64

interface Props {
  readonly onClose: () => void
  readonly onCreated: (made: NewToken) => void
}

/** Asks what a new token is for. */
export function CreateToken({ onClose, onCreated }: Props) {
  const client = useWorkflowClient()
  const [scope, setScope] = useState<Token['scope']>('answer')
  const { mutate, isPending, error } = useMutation({
    mutationFn: (form: FormData) => client.createToken(wanted(form)),
    onSuccess: onCreated,
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    mutate(new FormData(event.currentTarget))
  }
  const { tokens } = text
  return (
    <Dialog title={tokens.create} onClose={onClose}>
      <form className="settings__form" onSubmit={submit}>
        <Field label={tokens.name} hint={tokens.nameHint}>
          {(id) => (
            <input
              id={id}
              name="name"
              className="input"
              required
              maxLength={LONGEST}
              autoComplete="off"
              aria-describedby={`${id}-hint`}
            />
          )}
        </Field>
        <Field label={tokens.person} hint={tokens.personHint}>
          {(id) => (
            <input
              id={id}
              name="person"
              className="input"
              maxLength={LONGEST}
              autoComplete="off"
              aria-describedby={`${id}-hint`}
            />
          )}
        </Field>
        <Field label={tokens.role}>
          {(id) => (
            <select
              id={id}
              name="scope"
              className="input"
              value={scope}
              onChange={(event) => setScope(event.target.value as Token['scope'])}
            >
              {SCOPES.map((scope) => (
                <option key={scope} value={scope}>
                  {`${text.roles[scope]}: ${text.allows[scope]}`}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label={tokens.groups} hint={tokens.groupsHint}>
          {(id) => (
            <input
              id={id}
              name="groups"
              className="input"
              autoComplete="off"
              aria-describedby={`${id}-hint`}
            />
          )}
        </Field>
        {/* Only what reports comes from a host. */}
        {scope === 'hook' && (
          <Field label={tokens.host} hint={tokens.hostHint}>
            {(id) => (
              <input
                id={id}
                name="host"
                className="input"
                maxLength={LONGEST}
                autoComplete="off"
                aria-describedby={`${id}-hint`}
              />
            )}
          </Field>
        )}
        <Field label={tokens.life}>
          {(id) => (
            <select id={id} name="lives" className="input" defaultValue="90">
              {LIVES.map((one) => (
                <option key={one} value={one}>
                  {tokens.lives[one]}
                </option>
              ))}
            </select>
          )}
        </Field>
        {error && <Problem error={error} />}
        <div className="dialog__foot">
          <button type="button" className="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" className="button button--lamp" disabled={isPending}>
            {tokens.create}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface FieldProps {
  readonly label: string
  readonly hint?: string
  readonly children: (id: string) => ReactNode
}

function Field({ label, hint, children }: FieldProps) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint && (
        <span id={`${id}-hint`} className="field__hint">
          {hint}
        </span>
      )}
    </div>
  )
}

function wanted(form: FormData) {
  const given = (name: string) => String(form.get(name) ?? '').trim()
  const lives = given('lives')
  return {
    name: given('name'),
    scope: given('scope') as Token['scope'],
    person: given('person') || null,
    host: given('host') || null,
    groups: given('groups')
      .split(',')
      .map((group) => group.trim())
      .filter(Boolean),
    expiresInMs: lives === 'never' ? null : Number(lives) * DAY_MS,
  }
}
