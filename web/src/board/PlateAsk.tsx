import { isOpen, useInbox, useInteraction } from '@callboard/react'
import { useState } from 'react'
import { Asked } from '../asks/Asked'
import { askOf } from '../asks/ask'
import { FoldedContext } from '../conversation/Context'
import { AnswerForm } from '../inbox/AnswerForm'
import { AnsweredLine } from '../inbox/Receipt'
import { receiptWords } from '../inbox/receipt'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import { ReadFirst } from '../reading/ReadBox'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Interaction, Plate } from '../server/types'
import { useMayOperate } from '../server/useScope'
import { useUnreachableHost } from './hosts'
import { text } from './text'
import { AnswersWait } from './Unreachable'

interface Props {
  readonly plate: Plate
  /** Whether the keys answer here; only one on a page can have them. */
  readonly keys: boolean
  /** The question that was answered last, where that is known. */
  readonly last?: string | null
  /** Whether the conversation is on the page too. */
  readonly isInPage?: boolean
}

/** What a plate asks, the answer in place, and what became of the last one. */
export function PlateAsk({ plate, keys, last = null, isInPage = false }: Props) {
  const { interactions, unconfirmed } = useInbox()
  // Kept here, because the question may be gone by the time that an answer is refused.
  const [refused, setRefused] = useState<Error | null>(null)
  const mine = (one: Interaction) => askOf(one)?.plateId === plate.plateId
  const asked = interactions.filter(mine)
  const first = asked[0]
  const waiting = unconfirmed.filter(mine).at(-1)
  const lostHost = useUnreachableHost(plate.plateId)
  const mayRead = useMayOperate()
  const answered = useLastOf(waiting?.id ?? null) ?? last
  return (
    <>
      {refused && <Problem error={refused} />}
      {answered && <Answered id={answered} />}
      {lostHost && (first || waiting) && <AnswersWait host={lostHost} />}
      {first ? (
        <>
          <Question key={first.id} question={first} keys={keys} onRefused={setRefused} />
          {mayRead && !isInPage && (
            <FoldedContext
              plateId={plate.plateId}
              moment={first.createdAt}
              subagent={askOf(first)?.subagent?.id}
            />
          )}
          {asked.length > 1 && (
            <p className="quiet">
              {text.card.moreQuestions(asked.length - 1)}{' '}
              <Link to={to.inbox(asked[1]?.id)}>{text.card.openInbox}</Link>
            </p>
          )}
        </>
      ) : (
        !waiting && <InTerminal plate={plate} />
      )}
    </>
  )
}

/** The last one that there was: an answer that is confirmed leaves the list, and stays here. */
function useLastOf(id: string | null): string | null {
  const [last, setLast] = useState(id)
  if (id !== null && id !== last) setLast(id)
  return id ?? last
}

function Answered({ id }: { readonly id: string }) {
  const { interaction } = useInteraction(id)
  if (!interaction || isOpen(interaction) || !receiptWords(interaction)) return null
  return <AnsweredLine question={interaction} />
}

interface QuestionProps {
  readonly question: Interaction
  readonly keys: boolean
  readonly onRefused: (error: Error | null) => void
}

function Question({ question, keys, onRefused }: QuestionProps) {
  const ask = askOf(question)
  return (
    <ReadFirst>
      <div className="plate__ask">
        {/* A question says itself in the form below; a call is shown exactly. */}
        {ask && <Asked type={question.type} ask={ask} />}
        <AnswerForm compact question={question} keys={keys} onRefused={onRefused} />
      </div>
    </ReadFirst>
  )
}

/** A dialog whose hook does not wait for us can only be answered where it is. */
function InTerminal({ plate }: { readonly plate: Plate }) {
  if (!plate.waitingFor) return null
  return (
    <p className="plate__asks">
      {visible(plate.waitingFor)}{' '}
      <span className="quiet">
        {plate.tmuxTarget ? (
          <>
            {text.card.inPane} <code>{visible(plate.tmuxTarget)}</code>
          </>
        ) : (
          text.card.inTerminal
        )}
        .
      </span>
    </p>
  )
}
