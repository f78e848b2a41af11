import type { DayOfRuns } from '@callboard/react'

/** Runs per day in the height of a line; the numbers beside it say the rest. */
export function Sparkline({ days }: { readonly days: ReadonlyArray<DayOfRuns> }) {
  const counts = days.map((day) => day.completed + day.failed + day.cancelled + day.active)
  const most = Math.max(1, ...counts)
  const step = 100 / days.length
  return (
    <svg className="sparkline" aria-hidden="true">
      {days.map((day, place) => {
        const height = ((counts[place] ?? 0) / most) * 100
        const failed = (day.failed / most) * 100
        return (
          <g key={day.day}>
            <rect
              className="chart__bar chart__bar--completed"
              x={`${place * step}%`}
              width={`${step * 0.7}%`}
              y={`${100 - height + failed}%`}
              height={`${height - failed}%`}
            />
            <rect
              className="chart__bar chart__bar--failed"
              x={`${place * step}%`}
              width={`${step * 0.7}%`}
              y={`${100 - height}%`}
              height={`${failed}%`}
            />
          </g>
        )
      })}
    </svg>
  )
}
