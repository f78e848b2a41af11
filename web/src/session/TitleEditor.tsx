import { useWorkflowActions } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { PencilIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { LONGEST_TITLE } from '../server/limits'
import type { Session } from '../server/types'
import { text } from './text'

/** What the session is called, and how to call it something else. */
export function TitleEditor({ session }: { readonly session: Session }) {
  const [naming, setNaming] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const wasNaming = useRef(false)
  useEffect(() => {
    // Back to where it was opened from.
    if (wasNaming.current && !naming) button.current?.focus()
    wasNaming.current = naming
  }, [naming])
  const close = () => setNaming(false)
  if (naming) return <Naming session={session} onClose={close} />
  return (
    <div className="session__heading">
      <h1>
        {session.title ? (
          onOneLine(session.title)
        ) : (
          <>
            {text.header.session} <span className="session__id">{session.sessionId}</span>
          </>
        )}
      </h1>
      <button
        type="button"
        ref={button}
        className="button button--plain session__rename"
        aria-label={text.rename.button}
        title={text.rename.button}
        onClick={() => setNaming(true)}
      >
        <PencilIcon />
      </button>
    </div>
  )
}

function Naming({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const [draft, setDraft] = useState(session.title ?? '')
  const field = useRef<HTMLInputElement>(null)
  const { rename } = useWorkflowActions()
  const save = useMutation({
    mutationFn: () => rename(session.sessionId, draft.trim() || null),
    onSuccess: onClose,
  })
  useEffect(() => field.current?.select(), [])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className="session__naming" onSubmit={submit}>
      <h1 className="hidden">{text.session(session.sessionId)}</h1>
      <input
        ref={field}
        className="input"
        aria-label={text.rename.label}
        placeholder={text.rename.placeholder}
        maxLength={LONGEST_TITLE}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
        }}
      />
      <button type="submit" className="button button--lamp" disabled={save.isPending}>
        {text.rename.save}
      </button>
      <button type="button" className="button" onClick={onClose}>
        {text.rename.cancel}
      </button>
      {save.error && <Problem error={save.error} />}
    </form>
  )
}
