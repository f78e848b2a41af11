import type { DayOfRuns } from '@callboard/react'
import { Bar } from './Bar'
import { counts, OUTCOMES, total } from './runs'

/** Runs per day in the height of a line; the numbers beside it say the rest. */
export function Sparkline({ days }: { readonly days: ReadonlyArray<DayOfRuns> }) {
  const most = Math.max(1, ...days.map(total))
  const step = 100 / days.length
  return (
    <svg className="sparkline" aria-hidden="true">
      {days.map((day, place) => (
        <Bar
          key={day.day}
          values={counts(day)}
          tones={OUTCOMES}
          most={most}
          x={place * step}
          width={step * 0.7}
        />
      ))}
    </svg>
  )
}
