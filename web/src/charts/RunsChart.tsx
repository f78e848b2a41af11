import type { DayOfRuns } from '@callboard/react'
import { dayLabel } from './days'
import { counts, OUTCOMES, total } from './runs'
import { type Column, StackedColumns } from './StackedColumns'
import { text } from './text'

/** Runs per day, stacked by how they stand. */
export function RunsChart({ days }: { readonly days: ReadonlyArray<DayOfRuns> }) {
  const runs = days.reduce((sum, day) => sum + total(day), 0)
  const sums = new Map(
    OUTCOMES.map((outcome) => [outcome, days.reduce((sum, day) => sum + day[outcome], 0)]),
  )
  const shown = OUTCOMES.filter(
    (outcome) => outcome === 'completed' || outcome === 'failed' || sums.get(outcome),
  )
  return (
    <StackedColumns
      columns={days.map((day) => ({
        key: day.day,
        label: dayLabel(day.day),
        values: counts(day).filter((_, place) => shown.includes(OUTCOMES[place] as never)),
      }))}
      series={shown.map((outcome) => ({
        tone: outcome,
        name: text.outcomes[outcome],
        sum: text.runs.most(sums.get(outcome) ?? 0),
      }))}
      summary={text.runs.summary(runs, days.length)}
      title={text.day}
      format={text.runs.most}
      inWords={(column) => inWords(column, shown)}
      least={1}
    />
  )
}

function inWords(
  { label, values }: Column,
  outcomes: ReadonlyArray<(typeof OUTCOMES)[number]>,
): string {
  const said = values.flatMap((value, place) => {
    const outcome = outcomes[place]
    return value > 0 && outcome ? [text.runs.count(value, text.outcomes[outcome])] : []
  })
  return text.inWords(label, said.length > 0 ? said : [text.runs.none])
}
