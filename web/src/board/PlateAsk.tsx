import { useInbox } from '@callboard/react'
import { useState } from 'react'
import { Asked } from '../asks/Asked'
import { askOf } from '../asks/ask'
import { AnswerForm } from '../inbox/AnswerForm'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Interaction, Plate } from '../server/types'

interface Props {
  readonly plate: Plate
  /** Whether the keys answer here; only one on a page can have them. */
  readonly keys: boolean
}

/** What a plate asks, and the answer, in place. */
export function PlateAsk({ plate, keys }: Props) {
  const { interactions } = useInbox()
  // Kept here, because the question may be gone by the time that an answer is refused.
  const [refused, setRefused] = useState<Error | null>(null)
  const asked = interactions.filter((one) => askOf(one)?.plateId === plate.plateId)
  const first = asked[0]
  return (
    <>
      {refused && <Problem error={refused} />}
      {first ? (
        <>
          <Question key={first.id} question={first} keys={keys} onRefused={setRefused} />
          {asked.length > 1 && (
            <p className="quiet">
              It asks {asked.length - 1} more:{' '}
              <Link to={to.inbox(asked[1]?.id)}>see the inbox</Link>.
            </p>
          )}
        </>
      ) : (
        <InTerminal plate={plate} />
      )}
    </>
  )
}

interface QuestionProps {
  readonly question: Interaction
  readonly keys: boolean
  readonly onRefused: (error: Error | null) => void
}

function Question({ question, keys, onRefused }: QuestionProps) {
  const ask = askOf(question)
  return (
    <div className="plate__ask">
      {/* A question says itself in the form below; a call is shown exactly. */}
      {ask && <Asked type={question.type} ask={ask} />}
      <AnswerForm compact question={question} keys={keys} onRefused={onRefused} />
    </div>
  )
}

/** A dialog that nobody holds open for us can only be answered where it is. */
function InTerminal({ plate }: { readonly plate: Plate }) {
  if (!plate.waitingFor) return null
  return (
    <p className="plate__asks">
      {visible(plate.waitingFor)}{' '}
      <span className="quiet">
        Answer it in its terminal
        {plate.tmuxTarget && (
          <>
            , tmux <code>{visible(plate.tmuxTarget)}</code>
          </>
        )}
        .
      </span>
    </p>
  )
}
