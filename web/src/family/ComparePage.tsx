import { useSession, useWorkflowData } from '@callboard/react'
import { useMemo } from 'react'
import { Changes } from '../parts/Changes'
import { Problem } from '../parts/Problem'
import { Status } from '../parts/Status'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { SerializedEvent } from '../server/types'
import { useStateAt } from '../server/useStateAt'
import { story } from '../session/story'

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
  return (
    <div className="page">
      <header>
        <div>
          <h1>Compare sessions</h1>
          <p className="quiet">
            {shared > 0 ? `The first ${shared} events are shared.` : 'They share no event.'}{' '}
            <Link to={to.compare(right, left)}>Swap them</Link>
          </p>
        </div>
      </header>
      {error && <Problem error={error} />}
      <section className="panel" aria-label="Difference of the states">
        <header>
          <h2>The state at the end, from left to right</h2>
        </header>
        <div className="panel__body">
          {before.isSuccess && after.isSuccess && (
            <Changes
              before={before.data}
              after={after.data}
              empty="Both ended with the same state."
            />
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
    <section className="panel" aria-label={`Session ${id}`}>
      <header>
        <h2 className="grow">
          <Link className="mono" to={to.session(id)}>
            {id}
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
      {beats.length === 0 && <p className="panel__body quiet">Nothing after what they share.</p>}
      {beats.length > MOST && (
        <p className="panel__body quiet">
          {beats.length - MOST} more lines: <Link to={to.session(id)}>open the session</Link>.
        </p>
      )}
    </section>
  )
}
