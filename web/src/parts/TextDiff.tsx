import { useMemo, useState } from 'react'
import { Omitted, Passage } from '../reading/Passage'
import { type DiffRow, diffRows, type Kind, lineDifferences, omittedRows } from './lines'
import { text } from './text'

interface Props {
  readonly before: string
  readonly after: string
}

const SIGNS: Readonly<Record<Kind, string>> = { kept: ' ', added: '+', removed: '−' }

/** How one text becomes another, as lines that are gone and lines that are new. */
export function TextDiff({ before, after }: Props) {
  const [isWhole, setWhole] = useState(false)
  const rows = useMemo(() => diffRows(lineDifferences(before, after)), [before, after])
  const { head, omitted, tail } = useMemo(() => omittedRows(rows), [rows])
  if (isWhole || omitted === null) return <Rows rows={rows} />
  return (
    <>
      <Rows rows={head} />
      <Omitted words={omitted} onShow={() => setWhole(true)} />
      <Rows rows={tail} />
    </>
  )
}

function Rows({ rows }: { readonly rows: ReadonlyArray<DiffRow> }) {
  return (
    <ol className="textdiff">
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a difference does not change, its lines have no names
        <li key={index} className={`is-${row.kind}`}>
          <span aria-hidden="true">{SIGNS[row.kind]}</span>
          <span className="hidden">{text.diff[row.kind]}</span>
          <div className="textdiff__text">
            {row.isNote ? (
              <span className="passage__note">{row.text}</span>
            ) : (
              <Passage bare text={row.text} />
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}
