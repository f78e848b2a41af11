import type { DayOfRuns } from '@callboard/react'
import { Bar, OUTCOMES, total } from './Bar'
import { text } from './text'

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Runs per day, stacked by how they stand. The table behind it says the same. */
export function RunsChart({ days }: { readonly days: ReadonlyArray<DayOfRuns> }) {
  const most = Math.max(1, ...days.map(total))
  const step = 100 / days.length
  const runs = days.reduce((sum, day) => sum + total(day), 0)
  return (
    <div className="chart">
      <div className="chart__plot">
        <span className="chart__most quiet" aria-hidden="true">
          {text.runs.most(most)}
        </span>
        <svg role="img" aria-label={text.runs.summary(runs, days.length)}>
          {days.map((day, place) => (
            <g key={day.day}>
              <title>{inWords(day)}</title>
              <rect
                className="chart__day"
                x={`${place * step}%`}
                width={`${step}%`}
                height="100%"
              />
              <Bar day={day} most={most} x={(place + 0.14) * step} width={step * 0.72} />
            </g>
          ))}
        </svg>
      </div>
      <p className="chart__axis quiet" aria-hidden="true">
        <span>{days[0] && label(days[0])}</span>
        <span>{days.at(-1) && label(days.at(-1) as DayOfRuns)}</span>
      </p>
      <Legend days={days} />
      {runs > 0 && <AsTable days={days} />}
    </div>
  )
}

function Legend({ days }: { readonly days: ReadonlyArray<DayOfRuns> }) {
  return (
    <ul className="chart__legend">
      {OUTCOMES.map((outcome) => {
        const count = days.reduce((sum, day) => sum + day[outcome], 0)
        return count > 0 || outcome === 'completed' || outcome === 'failed' ? (
          <li key={outcome}>
            <span className={`chart__key chart__key--${outcome}`} aria-hidden="true" />
            {text.outcomes[outcome]} <strong>{count.toLocaleString('en')}</strong>
          </li>
        ) : null
      })}
    </ul>
  )
}

function AsTable({ days }: { readonly days: ReadonlyArray<DayOfRuns> }) {
  return (
    <details className="chart__table">
      <summary>{text.runs.table}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.runs.dayTitle}</th>
            {OUTCOMES.map((outcome) => (
              <th scope="col" key={outcome}>
                {text.outcomes[outcome]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.filter(total).map((day) => (
            <tr key={day.day}>
              <th scope="row">{label(day)}</th>
              {OUTCOMES.map((outcome) => (
                <td key={outcome}>{day[outcome].toLocaleString('en')}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

function label({ day }: DayOfRuns): string {
  return DAY.format(new Date(`${day}T00:00:00Z`))
}

function inWords(day: DayOfRuns): string {
  const counts = OUTCOMES.filter((outcome) => day[outcome] > 0).map((outcome) =>
    text.runs.count(day[outcome], text.outcomes[outcome]),
  )
  return text.runs.day(label(day), counts.length > 0 ? counts : [text.runs.none])
}
