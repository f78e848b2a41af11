import { Bar } from './Bar'
import { Level } from './Level'
import { text } from './text'

/** One kind of value, with its colour. */
export interface Series {
  readonly tone: string
  readonly name: string
  /** The sum of its values, as people read it. */
  readonly sum: string
}

/** One column of the chart. */
export interface Column {
  readonly key: string
  readonly label: string
  /** One for each series, from the bottom to the top. */
  readonly values: ReadonlyArray<number>
}

interface Props {
  readonly columns: ReadonlyArray<Column>
  readonly series: ReadonlyArray<Series>
  /** What the chart shows, for those who don't see it. */
  readonly summary: string
  /** What the columns are called in the table. */
  readonly title: string
  /** A value as people read it. */
  readonly format: (value: number) => string
  /** What a column is about, in words. */
  readonly inWords: (column: Column) => string
  /** A value that a line marks, and what it is. */
  readonly level?: { readonly value: number; readonly says: string } | undefined
  /** The smallest height of the chart. */
  readonly least?: number
}

/** Columns of values on top of each other. The table behind it says the same. */
export function StackedColumns(props: Props) {
  const { columns, series, summary, format, inWords, level, least = 0 } = props
  const sums = columns.map(({ values }) => values.reduce((sum, value) => sum + value, 0))
  const highest = Math.max(least, ...sums)
  // A line that is far above all columns would make them flat.
  const most = Math.max(highest, level && level.value <= highest * 4 ? level.value : 0) || 1
  const step = 100 / columns.length
  const tones = series.map(({ tone }) => tone)
  return (
    <div className="chart">
      <div className="chart__plot">
        <span className="chart__most quiet" aria-hidden="true">
          {format(most)}
        </span>
        <svg role="img" aria-label={summary}>
          {columns.map((column, place) => (
            <g key={column.key}>
              <title>{inWords(column)}</title>
              <rect
                className="chart__day"
                x={`${place * step}%`}
                width={`${step}%`}
                height="100%"
              />
              <Bar
                values={column.values}
                tones={tones}
                most={most}
                x={(place + 0.14) * step}
                width={step * 0.72}
              />
            </g>
          ))}
          {level && level.value <= most && (
            <Level at={(level.value / most) * 100} says={level.says} />
          )}
        </svg>
      </div>
      <p className="chart__axis quiet" aria-hidden="true">
        <span>{columns[0]?.label}</span>
        <span>{columns.at(-1)?.label}</span>
      </p>
      <ul className="chart__legend">
        {series.map(({ tone, name, sum }) => (
          <li key={tone}>
            <span className={`chart__key chart__key--${tone}`} aria-hidden="true" />
            {name} <strong>{sum}</strong>
          </li>
        ))}
      </ul>
      {sums.some(Boolean) && <AsTable {...props} />}
    </div>
  )
}

function AsTable({ columns, series, title, format }: Props) {
  return (
    <details className="chart__table">
      <summary>{text.table}</summary>
      <div className="chart__scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">{title}</th>
              {series.map(({ tone, name }) => (
                <th scope="col" key={tone}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {columns
              .filter(({ values }) => values.some(Boolean))
              .map(({ key, label, values }) => (
                <tr key={key}>
                  <th scope="row">{label}</th>
                  {series.map(({ tone }, place) => (
                    <td key={tone}>{format(values[place] ?? 0)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
