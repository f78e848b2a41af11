import type { UsageRow, UsageSum } from '@callboard/react'
import { short } from '../charts/period'
import type { Column, Series } from '../charts/StackedColumns'
import { dollars, tokensOf } from '../parts/amounts'
import { onOneLine } from '../parts/visible'
import { text } from './text'

export type Measure = 'money' | 'tokens'

const TONES = ['one', 'two', 'three', 'four', 'five'] as const
const OTHERS = 'others'

export function amountOf(used: UsageSum, measure: Measure): number {
  return measure === 'money' ? (used.cost ?? 0) : tokensOf(used)
}

export function formatOf(measure: Measure): (amount: number) => string {
  return measure === 'money' ? dollars : short
}

interface Stacked {
  readonly columns: ReadonlyArray<Column>
  readonly series: ReadonlyArray<Series>
}

/** The days of a split report as columns; the largest parts have a colour each. */
export function stacked(
  rows: ReadonlyArray<UsageRow>,
  measure: Measure,
  label: (day: string) => string,
): Stacked {
  const sums = new Map<string, { name: string; amount: number }>()
  for (const { parts } of rows)
    for (const { key, label: name, used } of parts) {
      const known = sums.get(key) ?? { name, amount: 0 }
      sums.set(key, { name, amount: known.amount + amountOf(used, measure) })
    }
  const largest = [...sums].filter(([, { amount }]) => amount > 0).sort(byAmount)
  const named = largest.slice(0, TONES.length)
  const rest = largest.slice(TONES.length)
  const places = new Map(named.map(([key], place) => [key, place]))
  const format = formatOf(measure)
  const series: Series[] = named.map(([, { name, amount }], place) => ({
    tone: TONES[place] ?? OTHERS,
    name: onOneLine(name),
    sum: format(amount),
  }))
  if (rest.length > 0) {
    const amount = rest.reduce((sum, [, one]) => sum + one.amount, 0)
    series.push({ tone: OTHERS, name: text.chart.others, sum: format(amount) })
  }
  const columns = rows.map(({ key, parts }) => {
    const values = series.map(() => 0)
    for (const part of parts) {
      const amount = amountOf(part.used, measure)
      const place = places.get(part.key) ?? TONES.length
      if (amount > 0) values[place] = (values[place] ?? 0) + amount
    }
    return { key, label: label(key), values }
  })
  return { columns, series }
}

function byAmount(
  [, a]: readonly [string, { amount: number }],
  [, b]: readonly [string, { amount: number }],
): number {
  return b.amount - a.amount
}
