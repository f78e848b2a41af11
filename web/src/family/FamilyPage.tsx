import { useState } from 'react'
import { Ago } from '../parts/Ago'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { Status } from '../parts/Status'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import { text } from './text'
import type { Branch } from './tree'
import { useFamily, type WholeFamily } from './useFamily'

/** The forks of a session and of its ancestors, drawn along their positions. */
export function FamilyPage({ id }: { readonly id: string }) {
  const family = useFamily(id)
  return (
    <div className="page">
      <header>
        <div>
          <h1>{text.forks.title}</h1>
          <p className="quiet">
            {text.forks.about} <Link to={to.session(id)}>{id}</Link>. {text.forks.choose}
          </p>
        </div>
      </header>
      {family.error && <Problem error={family.error} onRetry={() => void family.refetch()} />}
      {family.data &&
        (family.data.branches.length > 1 ? (
          <Tree id={id} family={family.data} />
        ) : (
          <Empty title={text.forks.alone}>
            <p>{text.forks.aloneHint}</p>
            <p>
              <Link to={to.session(id)}>{text.forks.open}</Link>
            </p>
          </Empty>
        ))}
    </div>
  )
}

function Tree({ id, family }: { readonly id: string; readonly family: WholeFamily }) {
  const [chosen, setChosen] = useState<ReadonlyArray<string>>([])
  const [left, right] = chosen
  const choose = (one: string) =>
    setChosen((before) =>
      before.includes(one) ? before.filter((other) => other !== one) : [...before, one].slice(-2),
    )
  return (
    <>
      <div className="row family__bar">
        <button
          type="button"
          className="button button--lamp"
          disabled={!left || !right}
          onClick={() => left && right && navigate(to.compare(left, right))}
        >
          {text.forks.compare}
        </button>
        <span className="quiet">{text.forks.chosen(chosen.length)}</span>
      </div>
      <ul className="panel family">
        {family.branches.map((branch) => (
          <li
            key={branch.session.sessionId}
            className={branch.session.sessionId === id ? 'is-here' : ''}
          >
            <BranchLine
              branch={branch}
              longest={family.longest}
              chosen={chosen.includes(branch.session.sessionId)}
              onChoose={choose}
            />
          </li>
        ))}
      </ul>
      {!family.isWhole && (
        <p className="notice" role="note">
          {text.forks.partly(family.branches.length)}
        </p>
      )}
    </>
  )
}

interface LineProps {
  readonly branch: Branch
  readonly longest: number
  readonly chosen: boolean
  readonly onChoose: (id: string) => void
}

function BranchLine({ branch, longest, chosen, onChoose }: LineProps) {
  const { session, depth, from } = branch
  const share = (at: number) => (at / longest) * 100
  return (
    <div className="branch">
      <input
        type="checkbox"
        aria-label={text.forks.select(session.sessionId)}
        checked={chosen}
        onChange={() => onChoose(session.sessionId)}
      />
      <span className="branch__name" style={{ paddingLeft: `${Math.min(depth, 8) * 0.9}rem` }}>
        {depth > 0 && <span aria-hidden="true">└ </span>}
        <Link
          className={session.title ? '' : 'mono'}
          title={session.sessionId}
          to={to.session(session.sessionId)}
        >
          {session.title ? onOneLine(session.title) : session.sessionId}
        </Link>
      </span>
      <Status status={session.status} />
      <span className="branch__track" aria-hidden="true">
        <span className="branch__shared" style={{ width: `${share(from)}%` }} />
        <span
          className={`branch__own branch__own--${session.status}`}
          style={{ left: `${share(from)}%`, width: `${share(session.position - from)}%` }}
        />
      </span>
      <span className="branch__about quiet">
        {session.parent
          ? text.forks.range(from, session.position)
          : text.forks.events(session.position)}
        {' · '}
        <Ago moment={session.updatedAt} />
      </span>
    </div>
  )
}
