import { useWorkers, type WorkerOverview } from '@callboard/react'
import { Command } from '../parts/Command'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { problemOf } from '../server/queries'
import { Stranded } from './Stranded'
import { text } from './text'
import { mixedVersions } from './versions'
import { Worker } from './Worker'
import '../styles/overview.css'
import '../styles/workers.css'

/** Who drives sessions, and which sessions no one can drive. */
export function WorkersPage() {
  const { overview, error, refetch } = useWorkers()
  const problem = problemOf(error, overview !== undefined)
  return (
    <div className="page">
      <header>
        <div>
          <h1>{text.title}</h1>
          <p className="quiet">{text.intro}</p>
        </div>
      </header>
      {problem && <Problem error={problem} onRetry={refetch} />}
      {!overview && !problem && (
        <p className="quiet" aria-busy="true">
          {text.loading}
        </p>
      )}
      {overview && <Overview overview={overview} />}
    </div>
  )
}

interface Props {
  readonly overview: WorkerOverview
}

function Overview({ overview }: Props) {
  const { workers, stranded, strandedCount, limited, startCommand } = overview
  return (
    <div className="workers">
      {workers.length + strandedCount > 0 && <Figures overview={overview} />}
      {limited && <p className="quiet">{text.limited}</p>}
      {mixedVersions(workers, text.unversioned).map(({ name, versions }) => (
        <p className="notice" key={name}>
          {text.versions(onOneLine(name), versions.map(onOneLine))}
        </p>
      ))}
      {strandedCount > 0 && <Stranded sessions={stranded} count={strandedCount} />}
      {workers.length > 0 && (
        <ul className="workers__list">
          {workers.map((one) => (
            <li key={one.id}>
              <Worker worker={one} />
            </li>
          ))}
        </ul>
      )}
      {workers.length === 0 && (
        <Empty title={text.empty.title}>
          <p>{text.empty.about}</p>
          <p>{text.empty.how}</p>
          <Command command={startCommand} />
        </Empty>
      )}
    </div>
  )
}

function Figures({ overview }: Props) {
  const { figures } = text
  const { workerCount, drivenCount, readyCount, strandedCount } = overview
  const counted = [
    [figures.workers, workerCount],
    [figures.driven, drivenCount],
    [figures.ready, readyCount],
    [figures.stranded, strandedCount],
  ] as const
  return (
    <dl className="panel figures">
      {counted.map(([title, count]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd className="figures__value">{count.toLocaleString('en')}</dd>
        </div>
      ))}
    </dl>
  )
}
