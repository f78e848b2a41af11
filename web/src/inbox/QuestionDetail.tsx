import { isOpen } from '@callboard/react'
import { useEffect, useMemo, useRef, useState } from 'react'
import { Asked } from '../asks/Asked'
import { type Ask, askOf, editedOf } from '../asks/ask'
import { Differences } from '../asks/Edit'
import { headlineOf } from '../asks/headline'
import { text as asks } from '../asks/text'
import { useUnreachableHost } from '../board/hosts'
import { agentName } from '../board/names'
import { AnswersWait } from '../board/Unreachable'
import { Context } from '../conversation/Context'
import { Brief } from '../interactive/Brief'
import { Outcome } from '../interactive/Outcome'
import { wantedOf } from '../interactive/wanted'
import { takesFocus, wasAnsweredHere } from '../outbox/moving'
import { Ago } from '../parts/Ago'
import { CheckIcon } from '../parts/icons'
import { KeyHint } from '../parts/KeyHint'
import { Problem } from '../parts/Problem'
import { useNow } from '../parts/useNow'
import { visible } from '../parts/visible'
import { promptOf } from '../prompts/folding'
import { PromptLine, PromptText } from '../prompts/PromptText'
import { Passage, Pieces } from '../reading/Passage'
import { End, ReadFirst } from '../reading/ReadBox'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Interaction } from '../server/types'
import { AnswerForm } from './AnswerForm'
import { Assignment } from './Assignment'
import { acceptedAnswer, mannerOf, verdictOf, whereOf, whoOf } from './manner'
import { QuestionContext } from './QuestionContext'
import { Receipt } from './Receipt'
import { text } from './text'
import { isPressing } from './urgency'
import { focusPrompt } from './useSelection'

interface Props {
  readonly question: Interaction
  readonly onNext: (() => void) | null
  /** Told when an answer is given that can still be taken back. */
  readonly onHeld: () => void
}

/** One question, with all that it takes to answer it. */
export function QuestionDetail({ question, onNext, onHeld }: Props) {
  const [refused, setRefused] = useState<Error | null>(null)
  const isAsked = isOpen(question)
  const ask = askOf(question)
  const wanted = wantedOf(question)
  const lostHost = useUnreachableHost(ask?.plateId ?? null)
  useEffect(() => {
    if (takesFocus()) focusPrompt()
  }, [])
  return (
    <ReadFirst>
      <article className="question" aria-labelledby="prompt">
        <About question={question} ask={ask} />
        {ask ? <Headline text={headlineOf(question, ask)} /> : <Prompt question={question} />}
        {ask && <Asked type={question.type} ask={ask} />}
        {ask && <Edited question={question} ask={ask} />}
        {wanted && isAsked && <Brief wanted={wanted} />}
        {refused && <Problem error={refused} />}
        {lostHost && question.status === 'pending' && <AnswersWait host={lostHost} />}
        {isAsked ? (
          <>
            <AnswerForm question={question} keys onRefused={setRefused} onHeld={onHeld} />
            <Assignment question={question} />
          </>
        ) : (
          <Closed question={question} onNext={onNext} />
        )}
        {wanted && !isAsked && <Outcome question={question} />}
        {wanted && !isAsked && <Brief wanted={wanted} />}
        {ask?.plateId && isAsked && (
          <Context plateId={ask.plateId} moment={question.createdAt} subagent={ask.subagent?.id} />
        )}
        <QuestionContext question={question} />
      </article>
    </ReadFirst>
  )
}

/** The first line is what is asked; what follows is often a plan or a list. */
function Prompt({ question }: Pick<Props, 'question'>) {
  const { title, body } = useMemo(() => promptOf(question.prompt), [question.prompt])
  return (
    <div className="question__text">
      <h2 className="question__prompt" id="prompt" tabIndex={-1}>
        {title === null ? nameless(question) : <PromptLine text={title} />}
      </h2>
      {body ? <PromptText text={body} level={3} /> : <End />}
    </div>
  )
}

/** What to call a prompt that has no line of its own to call it by. */
function nameless(question: Interaction): string {
  return text.question.needs[mannerOf(question)] ?? text.question.fallback
}

/** What a coding agent asks: always as it is, and never as Markdown. */
function Headline({ text }: { readonly text: string }) {
  const [first = '', ...rest] = text.split('\n')
  return (
    <div className="question__text">
      <h2 className="question__prompt" id="prompt" tabIndex={-1}>
        <Pieces text={first} />
      </h2>
      {rest.length > 0 && (
        <div className="question__rest">
          <Passage text={rest.join('\n').trimEnd()} />
        </div>
      )}
      <End />
    </div>
  )
}

function About({ question, ask }: Pick<Props, 'question'> & { readonly ask: Ask | null }) {
  const now = useNow()
  return (
    <p className="question__about row">
      <Asker question={question} ask={ask} />
      {question.phase && <span>{text.question.inPhase(visible(question.phase))}</span>}
      <Ago moment={question.createdAt} />
      {question.deadline && (
        <span className={isPressing(question, now) ? 'due is-pressing' : 'due'}>
          {text.question.due} <Ago moment={question.deadline} />
        </span>
      )}
    </p>
  )
}

/** What the person who allowed a call made of it. */
function Edited({ question, ask }: Pick<Props, 'question'> & { readonly ask: Ask }) {
  const edited = editedOf(question)
  if (edited === null) return null
  const who = whoOf(question)
  const title = who ? asks.edited.by(who) : asks.edited.byUnknown
  return <Differences before={ask.toolInput} after={edited} title={title} />
}

/** Where the asker can be looked at: a plate, or a session. */
function placeOf({ sessionId }: Interaction, ask: Ask | null): string | null {
  if (ask?.plateId) return to.plate(ask.plateId)
  return sessionId && to.session(sessionId)
}

function Asker({ question, ask }: Pick<Props, 'question'> & { readonly ask: Ask | null }) {
  if (ask) {
    const where = placeOf(question, ask)
    const name = agentName(ask.agent)
    return (
      <span>
        {text.question.askedBy}{' '}
        {ask.subagent && `${text.question.subagent(visible(ask.subagent.name))} `}
        {ask.subagent?.parent && `${visible(ask.subagent.parent)}, `}
        {where ? <Link to={where}>{name}</Link> : name}
        {ask.cwd && (
          <>
            {' '}
            {text.question.in} <code>{visible(ask.cwd)}</code>
          </>
        )}
      </span>
    )
  }
  if (!question.sessionId) return <span>{text.question.viaApi}</span>
  return (
    <span>
      {text.question.askedBy} {question.workflow && `${visible(question.workflow)}, `}
      {!question.sessionTitle && `${text.question.session} `}
      <Link to={to.session(question.sessionId)}>
        {question.sessionTitle ? visible(question.sessionTitle) : question.sessionId}
      </Link>
    </span>
  )
}

function Closed({ question, onNext }: Omit<Props, 'onHeld'>) {
  const look = lookOf(question)
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // The button that was pressed is gone, and the focus with it.
    const isLost = document.activeElement === document.body || !document.activeElement
    if (isLost && wasAnsweredHere(question.id)) {
      ref.current?.querySelector<HTMLElement>('button, a')?.focus()
    }
  }, [question.id])
  return (
    <div className={`closed closed--${look}`} role="status" ref={ref}>
      <p className="closed__verdict">
        {look === 'decided' && <CheckIcon />} <strong>{verdictOf(question)}</strong>
        <span className="quiet">
          {whereOf(question)} {question.resolvedAt && <Ago moment={question.resolvedAt} />}
        </span>
      </p>
      <Receipt question={question} />
      {question.receipt === 'overruled' && <Instead question={question} />}
      <div className="row">
        {onNext && (
          <button type="button" className="button button--lamp" onClick={onNext}>
            {text.question.next} <KeyHint>j</KeyHint>
          </button>
        )}
        <GoOn question={question} />
      </div>
    </div>
  )
}

type Look = 'decided' | 'undecided' | 'waiting' | 'overruled'

const UNDECIDED: ReadonlySet<string> = new Set(['cancelled', 'timeout', 'failed'])

/** Green is only for what is certain: an answer that the agent has not confirmed is not. */
function lookOf({ status, receipt }: Interaction): Look {
  if (receipt === 'overruled' || receipt === 'lost') return 'overruled'
  if (status === 'pending') return 'waiting'
  return UNDECIDED.has(status) ? 'undecided' : 'decided'
}

/** What was answered here and did not count. */
function Instead({ question }: Pick<Props, 'question'>) {
  return (
    <p className="quiet">
      {text.question.answerWas(whoOf(question) || text.question.here, acceptedAnswer(question))}
    </p>
  )
}

function GoOn({ question }: Pick<Props, 'question'>) {
  const where = placeOf(question, askOf(question))
  if (!where) return null
  return (
    <Link className="button" to={where}>
      {askOf(question)?.plateId ? text.question.viewAgent : text.question.viewSession}
    </Link>
  )
}
