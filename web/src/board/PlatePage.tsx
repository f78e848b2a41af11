import { useBoard, usePlateEvents } from '@callboard/react'
import { useEffect, useMemo } from 'react'
import { Ago } from '../parts/Ago'
import { Empty } from '../parts/Empty'
import { BackIcon, PinIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { whole } from '../parts/times'
import { visible } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { answersOf } from './answers'
import { agentName, titleOf } from './names'
import { PlateActions } from './PlateActions'
import { PlateAsk } from './PlateAsk'
import { PlateStatus } from './PlateStatus'
import { PlateTimeline } from './PlateTimeline'
import { TodoBar } from './TodoBar'

/** One plate: what it asks, what it is, and everything that happened to it. */
export function PlatePage({ id }: { readonly id: string }) {
  const { plates, isLoading, error, refetch } = useBoard()
  const plate = plates.find((one) => one.plateId === id)
  const problem = problemOf(error, plate !== undefined)
  useSeen(plate)
  return (
    <div className="page">
      <p>
        <Link className="button button--plain plate__back" to={to.board()}>
          <BackIcon /> The board
        </Link>
      </p>
      {problem && <Problem error={problem} onRetry={refetch} />}
      {plate ? <Opened plate={plate} /> : !isLoading && !problem && <Gone id={id} />}
    </div>
  )
}

/** Whoever opens a plate has seen it, and sees what comes while it is open. */
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
  return (
    <>
      <header className="plate__page">
        <div>
          <h1>
            {titleOf(plate)} {plate.pinned && <PinIcon />}
          </h1>
          <p className="row">
            <PlateStatus plate={plate} />
            <span className="quiet">
              {agentName(plate.agent)}, <Ago moment={plate.updatedAt} />
            </span>
          </p>
        </div>
        <PlateActions plate={plate} keys />
      </header>
      {(plate.waitingFor || plate.interactionId || last) && (
        <section className={plate.attention ? 'plate is-needy' : 'plate'} aria-label="What it asks">
          <PlateAsk plate={plate} keys last={last} />
        </section>
      )}
      <div className="plate__columns">
        <PlateTimeline plateId={plate.plateId} />
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

function Facts({ plate }: { readonly plate: Plate }) {
  const facts: ReadonlyArray<[string, string | null]> = [
    ['Project', plate.projectPath],
    ['Branch', plate.gitBranch],
    ['Prompt', plate.prompt],
    ['Last message', plate.lastMessage],
    ['Error', plate.error],
    ['Last tool', plate.lastTool],
    ['Model', plate.model],
    ['Session', plate.sessionId],
    ['Host', plate.hostName],
    ['Process', plate.pid === null ? null : String(plate.pid)],
    ['tmux', plate.tmuxTarget],
    ['Transcript', plate.transcriptPath],
    ['Began', whole(plate.createdAt)],
    ['Ended', plate.ended],
  ]
  return (
    <section className="panel" aria-label="Facts">
      <header>
        <h2>Facts</h2>
      </header>
      <dl className="facts panel__body">
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
const WORDS: Readonly<Record<string, string>> = { completed: 'done', in_progress: 'at it now' }

function Todos({ plate }: { readonly plate: Plate }) {
  if (plate.todos.length === 0) return null
  return (
    <section className="panel" aria-label="Its list">
      <header>
        <h2 className="grow">Its list</h2>
      </header>
      <div className="panel__body">
        <TodoBar plate={plate} />
        <ol className="todos__list">
          {plate.todos.map(({ text, status }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two things on a list may be called the same
            <li key={index} className={`is-${status}`}>
              <span aria-hidden="true">{MARKS[status] ?? '·'}</span>
              <span className="hidden">{WORDS[status] ?? 'to do'}: </span>
              {visible(text)}
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
        <h1>Plate {id}</h1>
      </header>
      <Empty title="It is not on the board">
        <p>
          It was dismissed, or there never was one. A session that starts on it brings it back. Go
          to <Link to={to.board()}>the board</Link>.
        </p>
      </Empty>
    </>
  )
}
