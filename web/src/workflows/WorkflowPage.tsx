import { useWorkflowStats, useWorkflows } from '@callboard/react'
import { type ReactNode, useState } from 'react'
import { DurationDots } from '../charts/DurationDots'
import { PERIOD } from '../charts/period'
import { RunsChart } from '../charts/RunsChart'
import { BackIcon, PlusIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { StartDialog } from '../sessions/StartDialog'
import { Facts } from './Facts'
import { LastFailure } from './LastFailure'
import { Phases } from './Phases'
import { Recent } from './Recent'
import { text } from './text'
import '../styles/charts.css'
import '../styles/overview.css'

/** One workflow: how its runs went, what it consists of, what failed last. */
export function WorkflowPage({ name }: { readonly name: string }) {
  const { workflows, isLoading } = useWorkflows()
  const { data, error, refetch } = useWorkflowStats(name, PERIOD)
  const [starting, setStarting] = useState(false)
  const known = workflows.find((one) => one.id === name)
  return (
    <div className="page">
      <header>
        <div>
          <Link className="quiet row" to={to.workflows()}>
            <BackIcon /> {text.all}
          </Link>
          <h1>{onOneLine(name)}</h1>
          <p className="quiet">{text.intro(PERIOD.days)}</p>
        </div>
        {known && (
          <button type="button" className="button button--lamp" onClick={() => setStarting(true)}>
            <PlusIcon /> {text.start}
          </button>
        )}
      </header>
      {error && <Problem error={error} onRetry={refetch} />}
      <div className="workflow" aria-busy={!data && !error}>
        {data && (
          <>
            <Facts stats={data} />
            {data.lastFailure && <LastFailure session={data.lastFailure} />}
            <Titled title={text.charts.runs} isWide={data.recent.length === 0}>
              <RunsChart days={data.perDay} />
            </Titled>
            {data.recent.length > 0 && (
              <Titled title={text.charts.durations} note={text.charts.latest}>
                <DurationDots runs={data.recent} duration={data.duration} />
              </Titled>
            )}
          </>
        )}
        {known && <Phases workflow={known} />}
        {!known && !isLoading && <p className="quiet is-wide">{text.phases.missing}</p>}
        <Recent workflow={name} />
      </div>
      {data?.limited && <p className="quiet">{text.limited}</p>}
      {starting && known && <StartDialog workflows={[known]} onClose={() => setStarting(false)} />}
    </div>
  )
}

interface TitledProps {
  readonly title: string
  readonly note?: string
  readonly isWide?: boolean
  readonly children: ReactNode
}

function Titled({ title, note, isWide = false, children }: TitledProps) {
  return (
    <section className={`panel ${isWide ? 'is-wide' : ''}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {note && <span className="quiet">{note}</span>}
      </header>
      <div className="panel__body">{children}</div>
    </section>
  )
}
