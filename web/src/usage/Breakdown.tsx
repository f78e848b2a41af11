import type { UsageReport, UsageRow, UsageSum } from '@callboard/react'
import { short } from '../charts/period'
import { dollars, tokensOf } from '../parts/amounts'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { amountOf, type Measure } from './series'
import { text } from './text'

const MOST = 50

interface Props {
  readonly report: UsageReport
  readonly measure: Measure
}

/** What tokens and money were spent on: a row each, the largest first. */
export function Breakdown({ report, measure }: Props) {
  const { rows, by } = report
  const { columns } = text
  if (rows.length === 0) return <p className="quiet">{columns.none}</p>
  const most = Math.max(...rows.map(({ used }) => amountOf(used, measure)))
  const shown = rows.slice(0, MOST)
  return (
    <>
      <table className="usage__table">
        <thead>
          <tr>
            <th scope="col">{by === 'day' ? '' : text.groups[by]}</th>
            <th scope="col" className="usage__wide">
              {columns.tokens}
            </th>
            <th scope="col" className="usage__wide">
              {columns.cached}
            </th>
            <th scope="col" className="usage__wide">
              {columns.output}
            </th>
            <th scope="col">{columns.cost}</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                <Name row={row} by={by} />
                <span className="usage__bar" aria-hidden="true">
                  <span style={{ width: `${share(row.used, measure, most)}%` }} />
                </span>
              </th>
              <td className="usage__wide">{short(tokensOf(row.used))}</td>
              <td className="usage__wide">{short(row.used.cacheReadTokens)}</td>
              <td className="usage__wide">{short(row.used.outputTokens)}</td>
              <td>
                {costOf(row.used)}
                <span className="usage__narrow quiet">{short(tokensOf(row.used))}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > MOST && <p className="quiet">{columns.more(rows.length - MOST)}</p>}
    </>
  )
}

interface NameProps {
  readonly row: UsageRow
  readonly by: UsageReport['by']
}

function Name({ row, by }: NameProps) {
  const label = onOneLine(row.label) || text.columns.noName
  if (by === 'plate') return <Link to={to.plate(row.key)}>{label}</Link>
  if (by === 'workflow' && row.key) return <Link to={to.workflow(row.key)}>{label}</Link>
  return (
    <span className="usage__name" title={label}>
      {label}
    </span>
  )
}

/** In percent of the largest row; what isn't nothing can be seen. */
function share(used: UsageSum, measure: Measure, most: number): number {
  const amount = amountOf(used, measure)
  return amount > 0 && most > 0 ? Math.max(0.5, (amount / most) * 100) : 0
}

function costOf(used: UsageSum): string {
  if (used.cost === null) return tokensOf(used) > 0 ? text.columns.noPrice : text.figures.none
  return used.unpricedTokens > 0 ? text.columns.atLeast(dollars(used.cost)) : dollars(used.cost)
}
