import { type ReactNode, useState } from 'react'
import { visible } from '../parts/visible'
import type { Coloured } from '../prompts/highlight'
import { type Colours, useColours } from './colours'
import { text } from './text'
import type { Hunk, UnifiedLine } from './unified'

interface Props {
  readonly path: string
  readonly hunks: ReadonlyArray<Hunk>
  /** What stands beside a line's number, such as a button for a comment. */
  readonly beside?: (line: UnifiedLine) => ReactNode
  /** What stands below a line. */
  readonly below?: (line: UnifiedLine) => ReactNode
}

/** More lines than this are drawn only when wanted. */
const MOST = 600
const SIGNS = { kept: ' ', added: '+', removed: '−' } as const

/** The difference of a file: line numbers, signs and syntax colours. */
export function UnifiedDiff({ path, hunks, beside, below }: Props) {
  const colours = useColours(hunks, path)
  const [most, setMost] = useState(MOST)
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0)
  if (total === 0) return <p className="diff__none quiet">{text.none}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <figure className="diff" aria-label={text.diff(visible(path))} tabIndex={0}>
      {firstLines(hunks, most).map(({ at, lines }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a difference does not change, its hunks have no names
        <div className="diff__hunk" key={index}>
          {(at || index > 0) && <p className="diff__at mono">{at ? visible(at) : '⋯'}</p>}
          <ol>
            {lines.map((line, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above
              <Line key={place} {...{ line, colours, beside, below }} />
            ))}
          </ol>
        </div>
      ))}
      {total > most && (
        <p className="diff__more">
          <button type="button" className="button" onClick={() => setMost(most + 10 * MOST)}>
            {text.more(total - most)}
          </button>
        </p>
      )}
    </figure>
  )
}

function firstLines(hunks: ReadonlyArray<Hunk>, most: number): Hunk[] {
  let left = most
  return hunks.flatMap((hunk) => {
    if (left <= 0) return []
    const lines = hunk.lines.slice(0, left)
    left -= lines.length
    return [{ ...hunk, lines }]
  })
}

interface LineProps {
  readonly line: UnifiedLine
  readonly colours: Colours
  readonly beside: Props['beside']
  readonly below: Props['below']
}

function Line({ line, colours, beside, below }: LineProps) {
  const { kind, before, after } = line
  return (
    <li className={`diff__line is-${kind}`}>
      <span className="diff__number mono" aria-hidden="true">
        {after ?? before ?? ''}
      </span>
      {beside?.(line)}
      <span className="diff__sign mono" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <code className="diff__text">
        <span className="hidden">{text.line[kind]}</span>
        <Content text={line.text} stretches={colours.get(line)} />
      </code>
      {below?.(line)}
    </li>
  )
}

interface ContentProps {
  readonly text: string
  readonly stretches: ReadonlyArray<Coloured> | undefined
}

function Content({ text: line, stretches }: ContentProps) {
  if (!stretches) return visible(line)
  return stretches.map(({ kind, text: part }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a line does not change, its parts have no names
    <span key={index} className={kind ? `code--${kind}` : undefined}>
      {visible(part)}
    </span>
  ))
}
