import { useInbox } from '@callboard/react'
import { useMemo } from 'react'
import { askOf } from '../asks/ask'
import { agentName, lastPart } from '../board/names'
import { holderName } from '../interactive/wanted'
import { Ago } from '../parts/Ago'
import { Empty } from '../parts/Empty'
import { BackIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { useNow } from '../parts/useNow'
import { firstLine, visible } from '../parts/visible'
import { titleOf } from '../prompts/folding'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { Interaction } from '../server/types'
import { NotificationSwitch } from '../shell/NotificationSwitch'
import { useShortcut } from '../shell/shortcuts'
import { QuestionDetail } from './QuestionDetail'
import { byUrgency, holder, isPressing } from './urgency'
import { type Selection, useSelection } from './useSelection'

/** Every question that waits for a person, the most urgent first. */
export function InboxPage({ question: chosen }: { readonly question: string | null }) {
  const { interactions, hasMore, isLoading, error, refetch } = useInbox()
  const minute = useNow(60_000)
  const sorted = useMemo(() => byUrgency(interactions, minute), [interactions, minute])
  const selection = useSelection(chosen, sorted)
  const problem = problemOf(error, !isLoading && interactions.length > 0)
  useShortcut('Inbox', 'j', 'Next question', () => selection.move(1))
  useShortcut('Inbox', 'k', 'Question before', () => selection.move(-1))
  return (
    <div className="page" data-chosen={chosen !== null}>
      <header>
        <div>
          <h1>Inbox</h1>
          <p className="quiet">{isLoading ? 'Loading…' : summary(sorted.length, hasMore)}</p>
        </div>
        <NotificationSwitch />
      </header>
      {problem && <Problem error={problem} onRetry={refetch} />}
      {!isLoading && !selection.id && !problem && <NothingWaits />}
      {selection.id && (
        <div className="inbox">
          <QuestionList questions={sorted} chosen={selection.id} />
          <Chosen selection={selection} />
        </div>
      )}
    </div>
  )
}

function Chosen({ selection }: { readonly selection: Selection }) {
  const { shown, error, hasNext, move, moveOn } = selection
  return (
    <div className="inbox__detail">
      <Link className="button button--plain inbox__back" to={to.inbox()}>
        <BackIcon /> All questions
      </Link>
      {shown && (
        <QuestionDetail
          key={shown.id}
          question={shown}
          onNext={hasNext ? () => move(1) : null}
          onHeld={moveOn}
        />
      )}
      {error && <Problem error={error} />}
    </div>
  )
}

function summary(count: number, more: boolean): string {
  if (count === 0) return 'You’re all caught up.'
  return count === 1 ? '1 open question' : `${more ? 'More than ' : ''}${count} open questions`
}

interface ListProps {
  readonly questions: ReadonlyArray<Interaction>
  readonly chosen: string | null
}

function QuestionList({ questions, chosen }: ListProps) {
  const now = useNow(10_000)
  return (
    <nav className="inbox__list" aria-label="Questions">
      <ul>
        {questions.map((question) => (
          <li key={question.id}>
            <Link
              to={to.inbox(question.id)}
              className="slip"
              aria-current={question.id === chosen ? 'true' : undefined}
            >
              <span className="slip__prompt">{titleOf(firstLine(question.prompt))}</span>
              <span className="slip__about">
                <span>{aboutOf(question)}</span>
                <span aria-hidden="true">·</span>
                <Ago moment={question.createdAt} />
                {isPressing(question, now) && question.deadline && (
                  <span className="due is-pressing">
                    due <Ago moment={question.deadline} />
                  </span>
                )}
                <HeldBy name={holder(question, now)} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {questions.length === 0 && <p className="quiet slip">No more questions.</p>}
    </nav>
  )
}

const KINDS: Readonly<Record<string, string>> = { interactive_session: 'interactive session' }

/** Who asks: the phase, or the agent and where it works. */
function aboutOf(question: Interaction): string {
  const ask = askOf(question)
  if (!ask) return question.phase ?? KINDS[question.type] ?? question.type
  return ask.cwd ? `${agentName(ask.agent)} in ${lastPart(ask.cwd)}` : agentName(ask.agent)
}

function HeldBy({ name }: { readonly name: string | null }) {
  return name ? <span>{visible(holderName(name))} sees to it</span> : null
}

function NothingWaits() {
  return (
    <Empty title="The board is clear">
      <p>
        When a session needs a person, its question is pinned here. Leave this page open and let it
        call you, or <Link to={`${to.sessions()}?start=1`}>start a session</Link>.
      </p>
    </Empty>
  )
}
