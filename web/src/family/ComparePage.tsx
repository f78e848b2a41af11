import { useSession, useWorkflowData } from '@callboard/react'
import { useMemo } from 'react'
import { Changes } from '../parts/Changes'
import { Problem } from '../parts/Problem'
import { Status } from '../parts/Status'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { SerializedEvent } from '../server/types'
import { useStateAt } from '../server/useStateAt'
import { story } from '../session/story'
import { Loading } from '../shell/Loading'
import { text } from './text'

interface Props {
  readonly left: string
  readonly right: string
}

/** Two sessions side by side, from where they part. */
export function ComparePage({ left, right }: Props) {
  const one = useWorkflowData(left)
  const other = useWorkflowData(right)
  const shared = useMemo(() => sharedBy(one.events, other.events), [one.events, other.events])
  const before = useStateAt(left, one.events.at(-1)?.position ?? 0)
  const after = useStateAt(right, other.events.at(-1)?.position ?? 0)
  const error = one.error ?? other.error
  // Every session has an event: without one, they are still to come.
  const isLoading = one.events.length === 0 || other.events.length === 0
  if (isLoading && !error) return <Loading />
  return (
    <div className="page">
      <header>
        <div>
          <h1>{text.compare.title}</h1>
          <p className="quiet">
            {text.compare.shared(shared)}{' '}
            <Link to={to.compare(right, left)}>{text.compare.swap}</Link>
          </p>
        </div>
      </header>
      {error && <Problem error={error} />}
      <section className="panel" aria-label={text.compare.changes}>
        <header>
          <h2>{text.compare.changes}</h2>
        </header>
        <div className="panel__body" aria-busy={before.isFetching || after.isFetching}>
          {before.isSuccess && after.isSuccess && (
            <Changes before={before.data} after={after.data} empty={text.compare.same} />
          )}
        </div>
      </section>
      <div className="sides">
        <Side id={left} events={one.events} shared={shared} />
        <Side id={right} events={other.events} shared={shared} />
      </div>
    </div>
  )
}

/** How many events two sessions have in common: what a fork shares has the same ids. */
function sharedBy(
  left: ReadonlyArray<SerializedEvent>,
  right: ReadonlyArray<SerializedEvent>,
): number {
  let count = 0
  while (count < left.length && left[count]?.id === right[count]?.id) count += 1
  return count
}

interface SideProps {
  readonly id: string
  readonly events: ReadonlyArray<SerializedEvent>
  readonly shared: number
}

const MOST = 500

function Side({ id, events, shared }: SideProps) {
  const { session } = useSession(id)
  const beats = useMemo(() => story(events.slice(shared)), [events, shared])
  return (
    <section className="panel" aria-label={text.compare.session(id)}>
      <header>
        <h2 className="grow">
          <Link className={session?.title ? '' : 'mono'} to={to.session(id)}>
            {session?.title ? onOneLine(session.title) : id}
          </Link>
        </h2>
        {session && <Status status={session.status} />}
      </header>
      <ol className="side">
        {beats.slice(0, MOST).map((beat) => (
          <li key={beat.first} className={`beat beat--${beat.tone}`}>
            <span className="beat__line">
              <span className="beat__position mono">{beat.last}</span>
              <span className="beat__text">
                <span className="beat__title">{beat.title}</span>
                {beat.detail && <span className="beat__detail">{beat.detail}</span>}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {beats.length === 0 && <p className="panel__body quiet">{text.compare.nothing}</p>}
      {beats.length > MOST && (
        <p className="panel__body quiet">
          {text.compare.more(beats.length - MOST)}{' '}
          <Link to={to.session(id)}>{text.compare.open}</Link>
        </p>
      )}
    </section>
  )
}
