import { useOverview, useWorkflows, type WorkflowSummary } from '@callboard/react'
import { PERIOD, percent, short } from '../charts/period'
import { Sparkline } from '../charts/Sparkline'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { length } from '../parts/times'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import { text } from './text'
import '../styles/charts.css'
import '../styles/overview.css'

/** Every workflow, the busiest first, and how its runs went. */
export function WorkflowsPage() {
  const { workflows, isLoading, error } = useWorkflows()
  const overview = useOverview(PERIOD)
  const ran = overview.data?.workflows ?? []
  const names = new Set(ran.map((one) => one.workflow))
  const idle = workflows.filter((one) => !names.has(one.id))
  const isEmpty = ran.length + idle.length === 0
  const problem = problemOf(overview.error ?? error, !isEmpty)
  return (
    <div className="page">
      <header>
        <div>
          <h1>{text.title}</h1>
          <p className="quiet">{text.intro(PERIOD.days)}</p>
        </div>
      </header>
      {problem && <Problem error={problem} onRetry={overview.refetch} />}
      {!isEmpty && (
        <div className="panel">
          <Head />
          <ul className="workflowlist">
            {ran.map((one) => (
              <li key={one.workflow}>
                <Row summary={one} />
              </li>
            ))}
            {idle.map(({ id }) => (
              <li key={id}>
                <Link className="workflowlist__row" to={to.workflow(id)}>
                  <span className="workflowlist__name">{onOneLine(id)}</span>
                  <Cell title={text.columns.runs} value={short(0)} />
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )}
      {overview.data?.limited && <p className="quiet">{text.limited}</p>}
      {isEmpty && !isLoading && !overview.isLoading && !problem && (
        <Empty title={text.empty.title}>
          <p>{text.empty.about}</p>
          <p>
            {text.empty.serve} <code>{text.empty.command}</code>
          </p>
        </Empty>
      )}
    </div>
  )
}

function Head() {
  const { workflow, runs, success, duration, tokens, perDay } = text.columns
  return (
    <div className="workflowlist__row workflowlist__head" aria-hidden="true">
      <span>{workflow}</span>
      <span className="workflowlist__number">{runs}</span>
      <span className="workflowlist__number">{success}</span>
      <span className="workflowlist__number workflowlist__wide">{duration}</span>
      <span className="workflowlist__number workflowlist__wide workflowlist__tokens">{tokens}</span>
      <span className="workflowlist__wide workflowlist__spark">{perDay}</span>
    </div>
  )
}

function Row({ summary }: { readonly summary: WorkflowSummary }) {
  const { workflow, runs, successRate, duration, inputTokens, outputTokens, perDay } = summary
  const tokens = inputTokens + outputTokens
  return (
    <Link className="workflowlist__row" to={to.workflow(workflow)}>
      <span className="workflowlist__name">{onOneLine(workflow)}</span>
      <Cell title={text.columns.runs} value={short(runs)} />
      <Cell
        title={text.columns.success}
        value={successRate === null ? text.none : percent(successRate)}
      />
      <Cell
        kind="workflowlist__wide"
        title={text.columns.duration}
        value={duration ? length(duration.p50) : text.none}
      />
      <Cell
        kind="workflowlist__wide workflowlist__tokens"
        title={text.columns.tokens}
        value={tokens ? short(tokens) : text.none}
      />
      <span className="workflowlist__wide workflowlist__spark">
        <Sparkline days={perDay} />
      </span>
    </Link>
  )
}

interface CellProps {
  readonly title: string
  readonly value: string
  readonly kind?: string
}

function Cell({ title, value, kind = '' }: CellProps) {
  return (
    <span className={`workflowlist__number ${kind}`}>
      <span className="hidden">{`${title}: `}</span>
      {value}
    </span>
  )
}
