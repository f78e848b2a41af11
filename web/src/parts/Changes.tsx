import { useMemo } from 'react'
import { type Difference, differences, MOST } from './differences'
import { text } from './text'
import { visible } from './visible'

interface Props {
  readonly before: unknown
  readonly after: unknown
  readonly empty?: string
}

const SIGNS = { added: '+', removed: '−', changed: '~' } as const

/** The difference between two values, a line for each place. */
export function Changes({ before, after, empty = text.changes.none }: Props) {
  const found = useMemo(() => differences(before, after), [before, after])
  if (found.length === 0) return <p className="quiet">{empty}</p>
  return (
    <>
      <ul className="changes">
        {found.map((one) => (
          <li key={one.path} className={`is-${one.kind}`}>
            <span>
              <span aria-hidden="true">{SIGNS[one.kind]}</span>
              <span className="hidden">{text.changes.kinds[one.kind]}</span>
            </span>
            <span className="changes__path">
              {one.path.slice(1).replaceAll('/', '.') || text.changes.everything}
            </span>
            <Values one={one} />
          </li>
        ))}
      </ul>
      {found.length >= MOST && <p className="quiet">{text.changes.first(MOST)}</p>}
    </>
  )
}

function Values({ one }: { readonly one: Difference }) {
  return (
    <span className="changes__values">
      {one.kind !== 'added' && <del>{brief(one.before)}</del>}
      {one.kind === 'changed' && ' → '}
      {one.kind !== 'removed' && <ins>{brief(one.after)}</ins>}
    </span>
  )
}

const LONGEST = 400

function brief(value: unknown): string {
  const shown = visible(JSON.stringify(value) ?? text.changes.nothing)
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)} …` : shown
}
