import { type KeyboardEvent, useState } from 'react'
import type { UnifiedLine } from '../diffs/unified'
import { PlusIcon } from '../parts/icons'
import { text } from './text'
import type { Comment, Tray } from './tray'

const words = text.comment

/** A line of a diff: its side, and its number there. */
export interface Target {
  readonly side: 'old' | 'new'
  readonly line: number
}

/** Where a comment on a line belongs: to the new version, unless the line is gone there. */
export function targetOf({ before, after }: UnifiedLine): Target | null {
  if (after !== null) return { side: 'new', line: after }
  return before === null ? null : { side: 'old', line: before }
}

function isSame(one: Target | null, other: Target | null): boolean {
  return one !== null && one.side === other?.side && one.line === other.line
}

interface ButtonProps {
  readonly line: UnifiedLine
  /** Whether Tab leads to it. The arrow keys lead to the others. */
  readonly isFirst: boolean
  readonly onOpen: () => void
}

/** Opens a comment on a line. */
export function CommentButton({ line, isFirst, onOpen }: ButtonProps) {
  const target = targetOf(line)
  if (!target) return <span className="diff__comment" />
  const label = words.add(target.side, target.line)
  return (
    <button
      type="button"
      className="diff__comment"
      aria-label={label}
      title={label}
      tabIndex={isFirst ? 0 : -1}
      onKeyDown={move}
      onClick={onOpen}
    >
      <PlusIcon />
    </button>
  )
}

const MOVES: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1 }

/** Go to the button of the line above or below. */
function move(event: KeyboardEvent<HTMLButtonElement>): void {
  const by = MOVES[event.key]
  const file = event.currentTarget.closest('.diff')
  if (by === undefined || !file) return
  event.preventDefault()
  const all = [...file.querySelectorAll<HTMLElement>('button.diff__comment')]
  all[all.indexOf(event.currentTarget) + by]?.focus()
}

interface Props {
  readonly path: string
  readonly line: UnifiedLine
  readonly tray: Tray
  /** The line on which a comment is being written. */
  readonly target: Target | null
  readonly onClose: () => void
}

/** The comments on a line, and a new one. */
export function LineComments({ path, line, tray, target, onClose }: Props) {
  const here = targetOf(line)
  const mine = tray.comments.filter((one) => one.path === path && isSame(one, here))
  const isWriting = isSame(target, here)
  if (!here || (mine.length === 0 && !isWriting)) return null
  return (
    <div className="comments">
      {mine.map((comment) => (
        <Written key={comment.id} comment={comment} tray={tray} />
      ))}
      {isWriting && (
        <Writing
          onSave={(said) => {
            tray.add({ path, ...here, text: said, excerpt: line.text })
            onClose()
          }}
          onClose={onClose}
        />
      )}
    </div>
  )
}

/** A comment that was not sent yet. */
export function Written({ comment, tray }: { readonly comment: Comment; readonly tray: Tray }) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing) {
    return (
      <Writing
        first={comment.text}
        onSave={(said) => {
          tray.change(comment.id, said)
          setEditing(false)
        }}
        onClose={() => setEditing(false)}
      />
    )
  }
  return (
    <div className="comments__one">
      <p className="comments__text">{comment.text}</p>
      <div className="row">
        <button type="button" className="button button--plain" onClick={() => setEditing(true)}>
          {words.edit}
        </button>
        <button
          type="button"
          className="button button--plain"
          onClick={() => tray.remove(comment.id)}
        >
          {words.remove}
        </button>
      </div>
    </div>
  )
}

interface WritingProps {
  readonly first?: string
  readonly onSave: (text: string) => void
  readonly onClose: () => void
}

function Writing({ first = '', onSave, onClose }: WritingProps) {
  const [said, setSaid] = useState(first)
  const save = () => {
    if (said.trim()) onSave(said.trim())
  }
  return (
    <form
      className="comments__form"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <textarea
        className="input"
        // biome-ignore lint/a11y/noAutofocus: a person has just asked to write it
        autoFocus
        rows={2}
        aria-label={words.label}
        value={said}
        onChange={(event) => setSaid(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) save()
        }}
      />
      <div className="row">
        <button type="submit" className="button" disabled={!said.trim()}>
          {first ? words.change : words.save}
        </button>
        <button type="button" className="button button--plain" onClick={onClose}>
          {words.cancel}
        </button>
      </div>
    </form>
  )
}
