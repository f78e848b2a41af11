import { useMemo } from 'react'
import { type Difference, differences, MOST } from './differences'
import { visible } from './visible'

interface Props {
  readonly before: unknown
  readonly after: unknown
  readonly empty?: string
}

const SIGNS = { added: '+', removed: '−', changed: '~' } as const
const WORDS = { added: 'added', removed: 'removed', changed: 'changed' } as const

/** The difference between two values, a line for each place. */
export function Changes({ before, after, empty = 'No difference.' }: Props) {
  const found = useMemo(() => differences(before, after), [before, after])
  if (found.length === 0) return <p className="quiet">{empty}</p>
  return (
    <>
      <ul className="changes">
        {found.map((one) => (
          <li key={one.path} className={`is-${one.kind}`}>
            <span>
              <span aria-hidden="true">{SIGNS[one.kind]}</span>
              <span className="hidden">{WORDS[one.kind]}</span>
            </span>
            <span className="changes__path">{one.path.slice(1).replaceAll('/', '.') || 'all'}</span>
            <Values one={one} />
          </li>
        ))}
      </ul>
      {found.length >= MOST && (
        <p className="quiet">Only the first {MOST} differences are shown.</p>
      )}
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
  const text = visible(JSON.stringify(value) ?? 'nothing')
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text
}
