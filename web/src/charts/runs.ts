import type { DayOfRuns } from '@callboard/react'

/** How a run can stand, from the bottom of a bar to its top. */
export const OUTCOMES = ['completed', 'active', 'cancelled', 'failed'] as const

export function total({ completed, failed, cancelled, active }: DayOfRuns): number {
  return completed + failed + cancelled + active
}

/** The runs of a day in the order of `OUTCOMES`. */
export function counts(day: DayOfRuns): ReadonlyArray<number> {
  return OUTCOMES.map((outcome) => day[outcome])
}
