import { useWorkflowVCR } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useId, useMemo, useState } from 'react'
import { Changes } from '../parts/Changes'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { Link } from '../router/Link'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Edit } from '../server/types'
import { useStateAt } from '../server/useStateAt'
import { editsBetween } from './edits'
import { type FieldEdit, FieldEdits, patchesOf } from './FieldEdits'
import { goToRetry } from './goToRetry'
import { text as words } from './text'

interface Props {
  readonly sessionId: string
  readonly position: number
  /** Whether this retries a session that failed. */
  readonly isRetry?: boolean
  readonly onClose: () => void
}

/** Larger states are edited field by field: megabytes of text are hard to edit. */
const WHOLE_UP_TO = 100_000

/** Start again from a position, with the state as it should have been. */
export function ForkDialog({ sessionId, position, isRetry = false, onClose }: Props) {
  const state = useStateAt(sessionId, position)
  const text = useMemo(
    () => (state.isSuccess ? JSON.stringify(state.data, null, 2) : null),
    [state.isSuccess, state.data],
  )
  return (
    <Dialog
      title={isRetry ? words.fork.retryTitle(position) : words.fork.title(position)}
      onClose={onClose}
    >
      <p className="quiet">{words.fork.about(position)}</p>
      {state.error && <Problem error={state.error} />}
      {text !== null && !state.isPlaceholderData && (
        <ForkForm {...{ sessionId, position, isRetry, onClose, before: state.data, text }} />
      )}
    </Dialog>
  )
}

interface FormProps extends Required<Props> {
  readonly before: unknown
  readonly text: string
}

function ForkForm({ sessionId, position, isRetry, onClose, before, text }: FormProps) {
  const byField = text.length > WHOLE_UP_TO
  const [draft, setDraft] = useState(byField ? '' : text)
  const [fields, setFields] = useState<ReadonlyArray<FieldEdit>>([{ id: 0, path: '', value: '' }])
  const [run, setRun] = useState(true)
  const id = useId()
  const edited = useMemo(() => parsed(draft), [draft])
  const { fork: forkAt, retry } = useWorkflowVCR()
  const fork = useMutation({
    mutationFn: async () => {
      const edits: Edit[] = byField ? patchesOf(fields) : editsBetween(before, valid(edited))
      return (isRetry ? retry : forkAt)(sessionId, { position }, { edits, run })
    },
    onSuccess: (forked) => {
      onClose()
      if (isRetry) return goToRetry(sessionId, forked.sessionId)
      navigate(to.session(forked.sessionId))
      say(
        <>
          {words.fork.started}{' '}
          <Link to={to.compare(sessionId, forked.sessionId)}>{words.fork.compare}</Link>
        </>,
      )
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    fork.mutate()
  }
  return (
    <form className="startform" onSubmit={submit}>
      {byField ? (
        <FieldEdits fields={fields} onChange={setFields} />
      ) : (
        <div className="field">
          <label htmlFor={id}>{words.fork.state}</label>
          <textarea
            id={id}
            className="input mono"
            rows={Math.min(16, text.split('\n').length + 1)}
            spellCheck={false}
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          {edited.error && <span className="field__hint is-wrong">{edited.error}</span>}
        </div>
      )}
      {!byField && !edited.error && (
        <Changes before={before} after={edited.value} empty={words.fork.unchanged} />
      )}
      <label className="row">
        <input type="checkbox" checked={run} onChange={(event) => setRun(event.target.checked)} />
        {words.fork.run}
      </label>
      {fork.error && <Problem error={fork.error} />}
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {words.fork.cancel}
        </button>
        <button
          type="submit"
          className="button button--lamp"
          disabled={fork.isPending || (!byField && edited.error !== null)}
        >
          {isRetry ? words.fork.retry : words.fork.fork}
        </button>
      </div>
    </form>
  )
}

interface Parsed {
  readonly value: unknown
  readonly error: string | null
}

function parsed(draft: string): Parsed {
  try {
    return { value: JSON.parse(draft) as unknown, error: null }
  } catch (error) {
    return { value: undefined, error: words.fork.invalid((error as Error).message) }
  }
}

function valid({ value, error }: Parsed): unknown {
  if (error) throw new Error(error)
  return value
}
