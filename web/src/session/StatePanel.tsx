import { useState } from 'react'
import { Changes } from '../parts/Changes'
import { JsonTree } from '../parts/JsonTree'
import { Problem } from '../parts/Problem'
import { useStateAt } from '../server/useStateAt'
import { CopyButton } from './CopyButton'
import { text } from './text'

interface Props {
  readonly sessionId: string
  readonly position: number
  readonly end: number
}

/** The state at a position, or how it differs from that at another. */
export function StatePanel({ sessionId, position, end }: Props) {
  const [against, setAgainst] = useState<number | null>(null)
  const now = useStateAt(sessionId, position)
  return (
    <section className="panel" aria-label={text.state.title}>
      <header>
        <h2 className="grow">
          {text.state.title} <span className="quiet">{text.state.at(position)}</span>
        </h2>
        {now.isSuccess && (
          <CopyButton value={() => JSON.stringify(now.data, null, 2)} label={text.state.copy} />
        )}
        <div className="tabs">
          <button type="button" aria-pressed={against === null} onClick={() => setAgainst(null)}>
            {text.state.state}
          </button>
          <button
            type="button"
            aria-pressed={against !== null}
            onClick={() => setAgainst(position === end ? 1 : end)}
          >
            {text.state.changes}
          </button>
        </div>
      </header>
      <div className="panel__body" aria-busy={now.isFetching}>
        {now.error && <Problem error={now.error} onRetry={() => void now.refetch()} />}
        {now.isSuccess && against === null && (
          <JsonTree value={now.data} label={text.state.label(position)} />
        )}
        {now.isSuccess && against !== null && (
          <Difference {...{ sessionId, position, end, against, setAgainst }} />
        )}
      </div>
    </section>
  )
}

interface DifferenceProps extends Props {
  readonly against: number
  readonly setAgainst: (position: number) => void
}

function Difference({ sessionId, position, end, against, setAgainst }: DifferenceProps) {
  const now = useStateAt(sessionId, position)
  const other = useStateAt(sessionId, against)
  const [before, after] = against <= position ? [other, now] : [now, other]
  return (
    <div className="statediff">
      <label className="row">
        {text.state.between(Math.min(position, against), Math.max(position, against))}
        <input
          className="input statediff__position"
          type="number"
          min={1}
          max={end}
          value={against}
          onChange={(event) => {
            const wanted = event.target.valueAsNumber
            if (wanted >= 1 && wanted <= end) setAgainst(wanted)
          }}
        />
      </label>
      {before.isSuccess && after.isSuccess && (
        <Changes before={before.data} after={after.data} empty={text.state.same} />
      )}
    </div>
  )
}
