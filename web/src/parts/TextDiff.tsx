import { useMemo, useState } from 'react'
import { type DiffLine, lineDifferences } from './lines'
import { visible } from './visible'

interface Props {
  readonly before: string
  readonly after: string
  readonly label: string
}

const SIGNS = { kept: ' ', added: '+', removed: '−' } as const
const WORDS = { kept: '', added: 'added: ', removed: 'removed: ' } as const
const AT_FIRST = 200

/** How one text becomes another, as lines that are gone and lines that are new. */
export function TextDiff({ before, after, label }: Props) {
  const [whole, setWhole] = useState(false)
  const lines = useMemo(() => lineDifferences(before, after), [before, after])
  const shown = whole ? lines : lines.slice(0, AT_FIRST)
  return (
    <div className="textdiff">
      <section
        className="textdiff__scroll"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
        tabIndex={0}
      >
        <ol>
          {numbered(shown).map(([key, line]) => (
            <li key={key} className={`is-${line.kind}`}>
              <span aria-hidden="true">{SIGNS[line.kind]}</span>
              <span className="hidden">{WORDS[line.kind]}</span>
              <span className="textdiff__text">{visible(line.text)}</span>
            </li>
          ))}
        </ol>
      </section>
      {shown.length < lines.length && (
        <button type="button" className="button" onClick={() => setWhole(true)}>
          Show all {lines.length.toLocaleString()} lines
        </button>
      )}
    </div>
  )
}

function numbered(lines: ReadonlyArray<DiffLine>): Array<[number, DiffLine]> {
  return lines.map((line, index) => [index, line])
}
