import type { PlateMessage, UseMessagesResult } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Ago } from '../parts/Ago'
import { ArrowDownIcon, ArrowUpIcon, PenIcon, StopIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import { text } from './text'

interface Props {
  readonly told: UseMessagesResult
  /** Writes the text of a lost message into the draft. */
  readonly onAgain: (lost: string) => void
}

/** How many messages that have arrived are listed; all of them are among the events. */
const PAST = 20
const OPEN: ReadonlySet<PlateMessage['status']> = new Set(['queued', 'handed', 'held'])

/** The messages that were written: those on their way, and what became of the others. */
export function Queue({ told, onAgain }: Props) {
  const open = told.messages.filter((one) => OPEN.has(one.status))
  const closed = told.messages.filter((one) => !OPEN.has(one.status))
  // One that was lost is not over for the person who wrote it, until a later one is.
  const last = closed.at(-1)
  const lost = last?.status === 'lost' || last?.status === 'delivered' ? last : null
  const past = closed.filter((one) => one !== lost).slice(-PAST)
  const act = useMutation({ mutationFn: (run: () => Promise<unknown>) => run() })
  const [dragged, setDragged] = useState<string | null>(null)
  if (told.messages.length === 0) return null
  return (
    <div className="queue">
      {past.length > 0 && (
        <details className="folded">
          <summary>{text.past(past.length)}</summary>
          <ol className="queue__list">
            {past.map((one) => (
              <Row key={one.id} message={one} {...{ told, onAgain }} act={act.mutate} />
            ))}
          </ol>
        </details>
      )}
      {act.error && <Problem error={act.error} />}
      {(lost || open.length > 0) && (
        <ol className="queue__list">
          {lost && <Row message={lost} {...{ told, onAgain }} act={act.mutate} />}
          {open.map((one) => (
            <Row
              key={one.id}
              message={one}
              {...{ told, onAgain, dragged, setDragged }}
              act={act.mutate}
            />
          ))}
        </ol>
      )}
    </div>
  )
}

interface RowProps extends Props {
  readonly message: PlateMessage
  readonly act: (run: () => Promise<unknown>) => void
  /** The message that is being dragged to another place. */
  readonly dragged?: string | null
  readonly setDragged?: (id: string | null) => void
}

function Row({ message, told, onAgain, act, dragged, setDragged }: RowProps) {
  const [isEditing, setEditing] = useState(false)
  const { id, status, note, by, when } = message
  if (isEditing && status === 'queued') {
    return (
      <li className="queue__one">
        <Editing
          message={message}
          onSave={(changed) => act(() => told.change(id, { text: changed }))}
          onClose={() => setEditing(false)}
        />
      </li>
    )
  }
  const isQueued = status === 'queued'
  return (
    <li
      className={`queue__one is-${status} ${dragged === id ? 'is-dragged' : ''}`}
      draggable={isQueued && setDragged !== undefined}
      onDragStart={() => setDragged?.(id)}
      onDragEnd={() => setDragged?.(null)}
      onDragOver={(event) => {
        if (isQueued && dragged) event.preventDefault()
      }}
      onDrop={() => {
        const before = dragged ? placeOf(told, dragged, id) : null
        if (dragged && before !== null) act(() => told.change(dragged, { before }))
      }}
    >
      <p className="queue__text">{visible(message.text)}</p>
      <p className="queue__about">
        <strong>{text.statuses[status]}</strong>
        {isQueued && <span>{text.whens[when]}</span>}
        {by && <span>{text.by(visible(by))}</span>}
        <Ago moment={message.closedAt ?? message.createdAt} />
      </p>
      {note && <p className="queue__note">{visible(note)}</p>}
      {isQueued && (
        <Changes message={message} told={told} act={act} onEdit={() => setEditing(true)} />
      )}
      {status === 'lost' && (
        <div className="queue__buttons">
          <button type="button" className="button" onClick={() => onAgain(message.text)}>
            {text.again}
          </button>
        </div>
      )}
    </li>
  )
}

/** Before which message one comes that is dropped on another; '' is the end, null no change. */
function placeOf({ messages }: UseMessagesResult, dragged: string, on: string): string | null {
  const waiting = messages.filter((one) => one.status === 'queued').map((one) => one.id)
  const from = waiting.indexOf(dragged)
  const to = waiting.indexOf(on)
  if (from < 0 || to < 0 || from === to) return null
  return from < to ? (waiting[to + 1] ?? '') : on
}

interface ChangesProps extends Pick<RowProps, 'message' | 'told' | 'act'> {
  readonly onEdit: () => void
}

/** What can be done with a message while it waits. */
function Changes({ message: { id }, told, act, onEdit }: ChangesProps) {
  const waiting = told.messages.filter((one) => one.status === 'queued')
  const index = waiting.findIndex((one) => one.id === id)
  const above = waiting[index - 1]
  const below = waiting[index + 1]
  return (
    <div className="queue__buttons">
      <button type="button" className="button button--plain" title={text.edit} onClick={onEdit}>
        <PenIcon />
        <span className="hidden">{text.edit}</span>
      </button>
      {waiting.length > 1 && (
        <>
          {/* Those that lead nowhere stay, so that the focus does. */}
          <button
            type="button"
            className="button button--plain"
            title={text.up}
            aria-disabled={!above}
            onClick={() => above && act(() => told.change(id, { before: above.id }))}
          >
            <ArrowUpIcon />
            <span className="hidden">{text.up}</span>
          </button>
          <button
            type="button"
            className="button button--plain"
            title={text.down}
            aria-disabled={!below}
            onClick={() =>
              below && act(() => told.change(id, { before: waiting[index + 2]?.id ?? '' }))
            }
          >
            <ArrowDownIcon />
            <span className="hidden">{text.down}</span>
          </button>
        </>
      )}
      <button
        type="button"
        className="button button--plain"
        title={text.withdraw}
        onClick={() => act(() => told.withdraw(id))}
      >
        <StopIcon />
        <span className="hidden">{text.withdraw}</span>
      </button>
    </div>
  )
}

interface EditingProps {
  readonly message: PlateMessage
  readonly onSave: (text: string) => void
  readonly onClose: () => void
}

function Editing({ message, onSave, onClose }: EditingProps) {
  const [changed, setChanged] = useState(message.text)
  const save = () => {
    onSave(changed)
    onClose()
  }
  return (
    <form
      className="queue__editing"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <textarea
        className="input"
        // biome-ignore lint/a11y/noAutofocus: a person has just asked to edit it
        autoFocus
        rows={3}
        aria-label={text.editing}
        value={changed}
        onChange={(event) => setChanged(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && changed.trim()) save()
        }}
      />
      <div className="row">
        <button type="submit" className="button" disabled={!changed.trim()}>
          {text.save}
        </button>
        <button type="button" className="button button--plain" onClick={onClose}>
          {text.cancel}
        </button>
      </div>
    </form>
  )
}
