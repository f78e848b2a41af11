import { Ago } from '../parts/Ago'
import { useNow } from '../parts/useNow'
import { firstLine } from '../parts/visible'
import { titleOf } from '../prompts/folding'
import { Link } from '../router/Link'
import type { Interaction } from '../server/types'
import { assignmentOf } from './Assignment'
import { askerOf } from './asker'
import { text } from './text'
import { isPressing } from './urgency'
import { inboxAddress } from './useFilters'
import type { Me } from './useMe'

interface Props {
  readonly question: Interaction
  readonly me: Me
  readonly isChosen: boolean
  readonly isPicked: boolean
  readonly isSending: boolean
  readonly onPick: (id: string) => void
}

/** One question in the list: what is asked, by what, since when, until when, and of whom. */
export function Slip({ question, me, isChosen, isPicked, isSending, onPick }: Props) {
  const now = useNow(10_000)
  const title = titleOf(firstLine(question.prompt))
  return (
    <div className="slip" data-chosen={isChosen} data-picked={isPicked}>
      <label className="slip__pick">
        <input
          type="checkbox"
          checked={isPicked}
          aria-label={text.row.select(title)}
          onChange={() => onPick(question.id)}
        />
      </label>
      <Link
        to={inboxAddress(question.id)}
        className="slip__link"
        aria-current={isChosen ? 'true' : undefined}
      >
        <span className="slip__prompt">{title}</span>
        <span className="slip__about">
          <span className="slip__asker">{askerOf(question)}</span>
          <Ago moment={question.createdAt} />
          {question.deadline && (
            <span className={isPressing(question, now) ? 'due is-pressing' : 'due'}>
              {text.row.due} <Ago moment={question.deadline} />
            </span>
          )}
          {isSending ? (
            <span>{text.row.sending}</span>
          ) : (
            <span className={question.assignedTo?.length ? undefined : 'quiet'}>
              {assignmentOf(question, me)}
            </span>
          )}
        </span>
      </Link>
    </div>
  )
}
