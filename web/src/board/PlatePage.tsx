import { useBoard, useHosts, usePlateEvents, useUsage } from '@callboard/react'
import { useEffect, useMemo } from 'react'
import { short } from '../charts/period'
import { Ago } from '../parts/Ago'
import { dollars, tokensOf } from '../parts/amounts'
import { Empty } from '../parts/Empty'
import { BackIcon, PinIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { LONGEST_ADDRESS, shorten } from '../parts/shorten'
import { whole } from '../parts/times'
import { visible } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { usePageName } from '../shell/useTitle'
import { answersOf } from './answers'
import { unreachableHost } from './hosts'
import { agentName, titleOf } from './names'
import { PlateActions } from './PlateActions'
import { PlateAsk } from './PlateAsk'
import { PlateStatus } from './PlateStatus'
import { PlateViews } from './PlateViews'
import { TodoBar } from './TodoBar'
import { text } from './text'
import { Unreachable } from './Unreachable'

/** The longest period for which usage is reported. */
const MOST_DAYS = 365

/** One plate: what it asks, what it is, and everything that happened to it. */
export function PlatePage({ id }: { readonly id: string }) {
  const { plates, isLoading, error, refetch } = useBoard()
  const plate = plates.find((one) => one.plateId === id)
  const problem = problemOf(error, plate !== undefined)
  useSeen(plate)
  usePageName(plate && titleOf(plate))
  return (
    <div className="page">
      <p>
        <Link className="button button--plain plate__back" to={to.board()}>
          <BackIcon /> {text.plate.back}
        </Link>
      </p>
      {problem && <Problem error={problem} onRetry={refetch} />}
      {plate ? <Opened plate={plate} /> : !isLoading && !problem && <Gone id={id} />}
    </div>
  )
}

/** Opening a plate marks it as seen, and so does what happens while it is open. */
function useSeen(plate: Plate | undefined): void {
  const { markSeen } = useBoard()
  const unseen = plate?.unseen ? plate.plateId : null
  useEffect(() => {
    const look = () => {
      // A token that may only read cannot mark anything; the mark then stays, and nothing else.
      if (unseen && document.visibilityState === 'visible') markSeen(unseen).catch(() => {})
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [unseen, markSeen])
}

function Opened({ plate }: { readonly plate: Plate }) {
  const last = useLastAnswer(plate.plateId)
  const lostSince = unreachableHost(plate, useHosts().hosts)?.seenAt
  return (
    <>
      <header className="plate__page">
        <div>
          <h1>
            {titleOf(plate)} {plate.pinned && <PinIcon />}
          </h1>
          <p className="row">
            <PlateStatus plate={plate} isStale={lostSince !== undefined} />
            {lostSince && <Unreachable since={lostSince} />}
            <span className="quiet">
              {agentName(plate.agent)}, <Ago moment={plate.updatedAt} />
            </span>
          </p>
        </div>
        <PlateActions plate={plate} keys />
      </header>
      {(plate.waitingFor || plate.interactionId || last) && (
        <section
          className={plate.attention ? 'plate is-needy' : 'plate'}
          aria-label={text.plate.request}
        >
          <PlateAsk plate={plate} keys last={last} isInPage />
        </section>
      )}
      <div className="plate__columns">
        <PlateViews plate={plate} />
        <div className="plate__side">
          <Facts plate={plate} />
          <Todos plate={plate} />
        </div>
      </div>
    </>
  )
}

/** The question that was answered here last; its receipt is shown until the next one is. */
function useLastAnswer(plateId: string): string | null {
  const { events } = usePlateEvents(plateId)
  return useMemo(() => {
    const answered = [...answersOf(events)].filter(([, one]) => one.accepted !== null)
    return answered.at(-1)?.[0] ?? null
  }, [events])
}

/** What the agent has used so far; null if that isn't known. */
function useUsed(plateId: string): string | null {
  const { data } = useUsage({ days: MOST_DAYS, by: 'model', stream: plateId })
  const total = data?.total
  const tokens = total ? tokensOf(total) : 0
  if (!total || tokens === 0) return null
  return text.facts.tokens(short(tokens), total.cost === null ? null : dollars(total.cost))
}

function Facts({ plate }: { readonly plate: Plate }) {
  const used = useUsed(plate.plateId)
  const facts: ReadonlyArray<[string, string | null]> = [
    [text.facts.project, plate.projectPath],
    [text.facts.branch, plate.gitBranch],
    [text.facts.prompt, plate.prompt],
    [text.facts.lastMessage, plate.lastMessage],
    [text.facts.error, plate.error],
    [text.facts.lastTool, plate.lastTool],
    [text.facts.model, plate.model],
    [text.facts.used, used],
    [text.facts.session, plate.sessionId],
    [text.facts.host, plate.hostName],
    [text.facts.process, plate.pid === null ? null : String(plate.pid)],
    [text.facts.tmux, plate.tmuxTarget],
    [text.facts.transcript, plate.transcriptPath],
    [text.facts.started, whole(plate.createdAt)],
    [text.facts.ended, plate.ended],
  ]
  return (
    <section className="panel" aria-label={text.plate.facts}>
      <header>
        <h2>{text.plate.facts}</h2>
      </header>
      <dl className="plate__facts panel__body">
        {facts.map(([name, value]) =>
          value ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{visible(value)}</dd>
            </div>
          ) : null,
        )}
      </dl>
    </section>
  )
}

const MARKS: Readonly<Record<string, string>> = { completed: '✓', in_progress: '▸' }
const STATES: Readonly<Record<string, string>> = text.plate.taskStates

function Todos({ plate }: { readonly plate: Plate }) {
  if (plate.todos.length === 0) return null
  return (
    <section className="panel" aria-label={text.plate.tasks}>
      <header>
        <h2 className="grow">{text.plate.tasks}</h2>
      </header>
      <div className="panel__body">
        <TodoBar plate={plate} />
        <ol className="todos__list">
          {plate.todos.map(({ text: task, status }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two tasks may be called the same
            <li key={index} className={`is-${status}`}>
              <span aria-hidden="true">{MARKS[status] ?? '·'}</span>
              <span className="hidden">{STATES[status] ?? text.plate.taskStates.pending}: </span>
              {visible(task)}
            </li>
          ))}
        </ol>
      </div>
    </section>
  )
}

function Gone({ id }: { readonly id: string }) {
  return (
    <>
      <header>
        <h1>{text.plate.gone(shorten(visible(id), LONGEST_ADDRESS))}</h1>
      </header>
      <Empty title={text.plate.goneTitle}>
        <p>{text.plate.goneWhy}</p>
        <Link className="button" to={to.board()}>
          {text.plate.goneBack}
        </Link>
      </Empty>
    </>
  )
}
