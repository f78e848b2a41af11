import type { RecentRun, Spread } from '@callboard/react'
import { length } from '../parts/times'
import { Level } from './Level'
import { heights } from './scale'
import { text } from './text'

interface Props {
  /** Newest first. */
  readonly runs: ReadonlyArray<RecentRun>
  readonly duration: Spread | null
}

/** How long each of the last runs took: a dot each, higher for longer, on a logarithmic scale. */
export function DurationDots({ runs, duration }: Props) {
  const height = heights(runs.map((run) => run.durationMs))
  const oldestFirst = [...runs].reverse()
  return (
    <div className="chart">
      <div className="chart__plot">
        <svg role="img" aria-label={text.durations.summary(runs.length)}>
          {oldestFirst.map((run, place) => (
            <circle
              key={run.sessionId}
              className={`chart__bar chart__bar--${run.status}`}
              cx={`${((place + 0.5) / runs.length) * 100}%`}
              cy={`${100 - height(run.durationMs)}%`}
              r="3.5"
            >
              <title>{text.durations.run(run.sessionId, run.status, length(run.durationMs))}</title>
            </circle>
          ))}
          {duration && (
            <>
              <Level at={height(duration.p50)} says={text.durations.p50(length(duration.p50))} />
              {height(duration.p95) - height(duration.p50) > 14 && (
                <Level at={height(duration.p95)} says={text.durations.p95(length(duration.p95))} />
              )}
            </>
          )}
        </svg>
      </div>
    </div>
  )
}
