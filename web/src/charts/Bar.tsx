import type { DayOfRuns } from '@callboard/react'

/** How a run can stand, from the bottom of a bar to its top. */
export const OUTCOMES = ['completed', 'active', 'cancelled', 'failed'] as const

export function total({ completed, failed, cancelled, active }: DayOfRuns): number {
  return completed + failed + cancelled + active
}

interface BarProps {
  readonly day: DayOfRuns
  readonly most: number
  readonly x: number
  readonly width: number
}

/** One day's runs, stacked by how they stand. */
export function Bar({ day, most, x, width }: BarProps) {
  let top = 100
  return OUTCOMES.map((outcome) => {
    const height = (day[outcome] / most) * 100
    top -= height
    if (height === 0) return null
    return (
      <rect
        key={outcome}
        className={`chart__bar chart__bar--${outcome}`}
        x={`${x}%`}
        width={`${width}%`}
        y={`${top}%`}
        height={`${height}%`}
        rx="1.5"
      />
    )
  })
}
