import { useRef } from 'react'
import { useShortcut } from '../shell/shortcuts'
import { text } from './text'

interface Props {
  readonly typed: string
  /** How many lines match; null while nothing is looked for. */
  readonly count: number | null
  /** Which of them is shown; 0 for none. */
  readonly at: number
  readonly onType: (typed: string) => void
  readonly onSeek: (by: 1 | -1) => void
}

/** Looks for text in everything that happened in the session. */
export function SearchBar({ typed, count, at, onType, onSeek }: Props) {
  const field = useRef<HTMLInputElement>(null)
  useShortcut(text.timeline.group, '/', text.search.shortcut, () => field.current?.focus())
  return (
    <search className="timeline__search">
      <input
        ref={field}
        type="search"
        className="input"
        aria-label={text.search.label}
        placeholder={text.search.placeholder}
        value={typed}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
          if (event.key === 'Enter') onSeek(event.shiftKey ? -1 : 1)
        }}
      />
      <span className="quiet" role="status">
        {count === null ? '' : count === 0 ? text.search.none : text.search.count(at, count)}
      </span>
      <SeekButton label={text.search.previous} sign="↑" off={!count} onSeek={() => onSeek(-1)} />
      <SeekButton label={text.search.next} sign="↓" off={!count} onSeek={() => onSeek(1)} />
    </search>
  )
}

interface SeekProps {
  readonly label: string
  readonly sign: string
  readonly off: boolean
  readonly onSeek: () => void
}

function SeekButton({ label, sign, off, onSeek }: SeekProps) {
  return (
    <button
      type="button"
      className="button"
      aria-label={label}
      title={label}
      disabled={off}
      onClick={onSeek}
    >
      {sign}
    </button>
  )
}
