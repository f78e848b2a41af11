import type { UsageReport } from '@callboard/react'
import { dayLabel } from '../charts/days'
import { type Column, StackedColumns } from '../charts/StackedColumns'
import { text as charts } from '../charts/text'
import { dollars } from '../parts/amounts'
import { amountOf, formatOf, type Measure, stacked } from './series'
import { text } from './text'

interface Props {
  readonly report: UsageReport
  readonly measure: Measure
}

/** Tokens or money per day, stacked by agent or model, with the budget as a line. */
export function UsageChart({ report, measure }: Props) {
  const { columns, series } = stacked(report.rows, measure, dayLabel)
  const format = formatOf(measure)
  const total = format(amountOf(report.total, measure))
  const { daily } = report.budget
  const inWords = ({ label, values }: Column) => {
    const said = values.flatMap((value, place) =>
      value > 0 ? [text.chart.value(series[place]?.name ?? '', format(value))] : [],
    )
    return charts.inWords(label, said.length > 0 ? said : [text.chart.nothing])
  }
  return (
    <StackedColumns
      columns={columns}
      series={series}
      summary={text.chart.summary(
        measure === 'money' ? total : text.chart.tokens(total),
        report.days,
      )}
      title={charts.day}
      format={format}
      inWords={inWords}
      level={
        measure === 'money' && daily !== null
          ? { value: daily, says: text.chart.budget(dollars(daily)) }
          : undefined
      }
    />
  )
}
