import { useState } from 'react'
import { Changes } from '../parts/Changes'
import { JsonTree } from '../parts/JsonTree'
import { Problem } from '../parts/Problem'
import { useStateAt } from '../server/useStateAt'

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
    <section className="panel" aria-label="State">
      <header>
        <h2 className="grow">
          State <span className="quiet">at {position}</span>
        </h2>
        <div className="tabs">
          <button type="button" aria-pressed={against === null} onClick={() => setAgainst(null)}>
            Whole
          </button>
          <button
            type="button"
            aria-pressed={against !== null}
            onClick={() => setAgainst(position === end ? 1 : end)}
          >
            Difference
          </button>
        </div>
      </header>
      <div className="panel__body" aria-busy={now.isPlaceholderData}>
        {now.error && <Problem error={now.error} onRetry={() => void now.refetch()} />}
        {now.isSuccess && against === null && (
          <JsonTree value={now.data} label={`State at ${position}`} />
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
        from {Math.min(position, against)} to {Math.max(position, against)}, compared with
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
        <Changes before={before.data} after={after.data} empty="The state is the same at both." />
      )}
    </div>
  )
}
