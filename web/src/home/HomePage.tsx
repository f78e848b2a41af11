import { useBoard, useInbox, useOverview, useSessions, useWorkflows } from '@callboard/react'
import { useState } from 'react'
import { PERIOD } from '../charts/period'
import { RunsChart } from '../charts/RunsChart'
import { PlusIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import { StartDialog } from '../sessions/StartDialog'
import { FailedRecently } from './FailedRecently'
import { NeedsYou } from './NeedsYou'
import { Running } from './Running'
import { text } from './text'
import { Welcome } from './Welcome'
import '../styles/charts.css'
import '../styles/overview.css'

/** What needs you, what runs, what broke. */
export function HomePage() {
  const { interactions, isLoading } = useInbox()
  const { plates, needy } = useBoard()
  const { workflows } = useWorkflows()
  const newest = useSessions({ limit: 1 })
  const overview = useOverview(PERIOD)
  const [starting, setStarting] = useState(false)
  const start = () => setStarting(true)
  const isKnown = !isLoading && !newest.isLoading
  const isEmpty = newest.sessions.length + interactions.length + plates.length === 0
  const problem = problemOf(newest.error, !isEmpty)
  return (
    <div className="page">
      <header>
        <h1>{text.title}</h1>
        {workflows.length > 0 && !isEmpty && (
          <button type="button" className="button button--lamp" onClick={start}>
            <PlusIcon /> {text.start}
          </button>
        )}
      </header>
      {problem && <Problem error={problem} onRetry={newest.refetch} />}
      {isKnown && isEmpty && !problem && <Welcome workflows={workflows} onStart={start} />}
      {isKnown && !isEmpty && (
        <div className="home">
          <div className="home__column">
            <NeedsYou questions={interactions} plates={needy} />
            <Running />
          </div>
          <div className="home__column">
            {overview.data && (
              <section className="panel" aria-labelledby="runs">
                <header>
                  <h2 id="runs">{text.runs.title}</h2>
                  <span className="quiet">{text.runs.days(overview.data.days)}</span>
                  <Link className="more" to={to.workflows()}>
                    {text.runs.workflows}
                  </Link>
                </header>
                <div className="panel__body">
                  <RunsChart days={overview.data.total.perDay} />
                </div>
              </section>
            )}
            <FailedRecently />
          </div>
        </div>
      )}
      {starting && <StartDialog workflows={workflows} onClose={() => setStarting(false)} />}
    </div>
  )
}
