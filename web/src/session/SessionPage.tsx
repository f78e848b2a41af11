import {
  isOpen,
  SessionNotFound,
  useSession,
  useWorkflowData,
  useWorkflows,
} from '@callboard/react'
import { useEffect, useRef, useState } from 'react'
import { Asked } from '../asks/Asked'
import { askOf } from '../asks/ask'
import { headlineOf } from '../asks/headline'
import { AnswerForm } from '../inbox/AnswerForm'
import { Brief } from '../interactive/Brief'
import { wantedOf } from '../interactive/wanted'
import { noteMoved, onReturn } from '../outbox/moving'
import { useOutbox } from '../outbox/outbox'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { LONGEST_ADDRESS, shorten } from '../parts/shorten'
import { visible } from '../parts/visible'
import { PromptText } from '../prompts/PromptText'
import { Passage } from '../reading/Passage'
import { End, ReadFirst } from '../reading/ReadBox'
import { Link } from '../router/Link'
import { useParameter } from '../router/navigation'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { Interaction, SerializedEvent, Session, Workflow } from '../server/types'
import { usePageName } from '../shell/useTitle'
import { ENDED } from './Controls'
import { Failure } from './Failure'
import { ForkDialog } from './ForkDialog'
import { isOver, lastWork } from './forking'
import { Graph } from './Graph'
import { LedgerPanel } from './LedgerPanel'
import { NothingToRun } from './NothingToRun'
import { Scrubber } from './Scrubber'
import { SessionHeader } from './SessionHeader'
import { SlotWait } from './SlotWait'
import { Speech } from './Speech'
import { StatePanel } from './StatePanel'
import { Timeline } from './Timeline'
import { text } from './text'

const LOOKS_EVERY = 2_000
const NONE: ReadonlyArray<SerializedEvent> = []

/** One session: where it is, how it got there, and every state on the way. */
export function SessionPage({ id }: { readonly id: string }) {
  const { session, error: refused, refetch } = useSession(id)
  const { events, error } = useWorkflowData(id)
  const { workflows, isLoading } = useWorkflows()
  usePageName(session?.title ?? undefined)
  const gone = [refused, error].find((one) => one instanceof SessionNotFound)
  const ended = session !== undefined && ENDED.has(session.status)
  useEffect(() => {
    if (!ended) return
    // The stream of a session that has ended is closed, so a deletion has to be looked for; a tab
    // in the background can wait.
    const look = () => document.visibilityState === 'visible' && refetch()
    const timer = window.setInterval(look, LOOKS_EVERY)
    document.addEventListener('visibilitychange', look)
    return () => {
      window.clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
    }
  }, [ended, refetch])
  if (gone) return <Gone id={id} deleted={session !== undefined} />
  if (!session) {
    return (
      <div className="page">
        <header>
          <h1>{text.session(shorten(visible(id), LONGEST_ADDRESS))}</h1>
        </header>
        {refused && <Problem error={refused} onRetry={refetch} />}
      </div>
    )
  }
  return (
    <Opened
      session={session}
      // All panels at once: a graph that came later would push the others down.
      events={isLoading ? NONE : events}
      workflow={workflows.find((one) => one.id === session.workflow)}
      error={problemOf(error, events.length > 0)}
    />
  )
}

interface OpenedProps {
  readonly session: Session
  readonly events: ReadonlyArray<SerializedEvent>
  readonly workflow: Workflow | undefined
  readonly error: Error | null
}

function Opened({ session, events, workflow, error }: OpenedProps) {
  const [at, setAt] = useParameter('at')
  const [forking, setForking] = useState<number | null>(null)
  const { sessionId } = session
  const end = events.at(-1)?.position ?? 0
  const position = at === null ? end : Math.min(Math.max(1, Number(at) || 1), end)
  const live = at === null || position === end
  const move = (wanted: number | null) =>
    setAt(wanted === null || wanted >= end ? null : String(wanted))
  return (
    <div className="page session">
      <SessionHeader session={session} position={position} onFork={() => setForking(position)} />
      {error && <Problem error={error} />}
      <SlotWait session={session} workflow={workflow} />
      <Failure session={session} events={events} position={live ? null : position} />
      <Questions session={session} />
      {end > 0 && (
        <>
          <Scrubber {...{ events, position, end, live }} onMove={move} />
          {workflow && (
            <Graph
              workflow={workflow}
              events={events}
              position={position}
              waiting={live && session.status === 'waiting'}
            />
          )}
          <div className="session__columns">
            <div className="session__column">
              <Timeline {...{ events, position, live }} onMove={move} />
            </div>
            <div className="session__column">
              <Speech events={events} position={position} speaking={live && session.running} />
              <StatePanel sessionId={sessionId} position={position} end={end} />
              <LedgerPanel sessionId={sessionId} events={events} position={position} />
            </div>
          </div>
        </>
      )}
      {forking !== null &&
        (isOver(session, events, forking) ? (
          <NothingToRun
            position={forking}
            earlier={lastWork(events)}
            onMove={setForking}
            onClose={() => setForking(null)}
          />
        ) : (
          <ForkDialog
            key={forking}
            sessionId={sessionId}
            position={forking}
            onClose={() => setForking(null)}
          />
        ))}
    </div>
  )
}

function Questions({ session }: { readonly session: Session }) {
  // Kept here, because the question may be gone by the time that an answer is refused.
  const [refused, setRefused] = useState<Error | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const outgoing = useOutbox()
  const open = session.pending.filter(isOpen)
  const waiting = open.filter((question) => outgoing.every((one) => one.id !== question.id))
  const goOn = (answered: Interaction) => {
    const next = waiting.find((one) => one !== answered)
    if (!next) return
    noteMoved()
    focusQuestion(list.current, next.id)
  }
  useEffect(() => onReturn((id) => focusQuestion(list.current, id)), [])
  return (
    <>
      {refused && <Problem error={refused} />}
      <ul className="asks" ref={list}>
        {open.map((question) => (
          <li className="ask" key={question.id} data-question={question.id} tabIndex={-1}>
            <ReadFirst>
              <Ask question={question} />
              <AnswerForm
                question={question}
                keys={question === (waiting[0] ?? open[0])}
                onRefused={setRefused}
                onHeld={() => goOn(question)}
              />
            </ReadFirst>
          </li>
        ))}
      </ul>
      {session.pendingCount > session.pending.length && (
        <p className="quiet">
          {text.questions.shown(session.pending.length, session.pendingCount)}{' '}
          <Link to={to.inbox()}>{text.questions.inbox}</Link>.
        </p>
      )}
    </>
  )
}

/** Give the focus to a question in the list, if it is there. */
function focusQuestion(list: HTMLElement | null, id: string): boolean {
  const found = list?.querySelector<HTMLElement>(`[data-question="${CSS.escape(id)}"]`)
  found?.focus()
  return found !== undefined && found !== null
}

/** All that is asked: a coding agent's call, or the prompt and what it is about. */
function Ask({ question }: { readonly question: Interaction }) {
  const wanted = wantedOf(question)
  const ask = askOf(question)
  return (
    <>
      <div className="ask__prompt">
        {ask ? (
          <>
            <Passage bare text={headlineOf(question, ask)} />
            <End />
          </>
        ) : (
          <PromptText text={question.prompt} level={2} />
        )}
      </div>
      {ask && <Asked type={question.type} ask={ask} />}
      {wanted && <Brief wanted={wanted} />}
    </>
  )
}

function Gone({ id, deleted }: { readonly id: string; readonly deleted: boolean }) {
  return (
    <div className="page">
      <header>
        <h1>{text.session(shorten(visible(id), LONGEST_ADDRESS))}</h1>
      </header>
      <Empty title={deleted ? text.gone.deleted : text.gone.missing}>
        <p>{deleted ? text.gone.wasDeleted : text.gone.mayBeDeleted}</p>
        <p>
          <Link to={to.sessions()}>{text.gone.all}</Link>
        </p>
      </Empty>
    </div>
  )
}
