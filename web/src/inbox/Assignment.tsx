import { useInbox } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { holderName, wantedOf } from '../interactive/wanted'
import { PersonIcon } from '../parts/icons'
import { KeyHint } from '../parts/KeyHint'
import { Problem } from '../parts/Problem'
import { useNow } from '../parts/useNow'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { givenName, myName, setMyName } from '../server/useClaim'
import { useShortcut } from '../shell/shortcuts'
import { isMine } from './filters'
import { text } from './text'
import { holder } from './urgency'
import { type Me, mayAnswer, useMe } from './useMe'

const GROUP = 'group:'

/** People and groups as a text. */
export function namesOf(names: ReadonlyArray<string>): string {
  const called = (name: string) =>
    name.startsWith(GROUP) ? text.assignment.group(name.slice(GROUP.length)) : name
  return text.assignment.listed(names.map((name) => visible(called(name))))
}

/** Who is expected to answer, in words. */
export function assignmentOf(question: Interaction, me: Me): string {
  const { assignedTo } = question
  if (!assignedTo?.length) return text.assignment.none
  const isOnlyMine = assignedTo.length === 1 && isMine(question, me.names)
  const isGroup = assignedTo[0]?.startsWith(GROUP)
  return isOnlyMine && !isGroup ? text.assignment.toMe : text.assignment.to(namesOf(assignedTo))
}

/** Assign questions: to yourself, or to no one in particular. */
export function useAssign() {
  const { assign } = useInbox()
  return useMutation({
    mutationFn: ({ question, isMe }: { question: Interaction; isMe: boolean }) => {
      if (!isMe) return assign(question.id, { to: null })
      // Only the server knows whether this person is one of those who may answer.
      const given = question.assignees === null ? givenName() : null
      return assign(question.id, given === null ? {} : { to: given })
    },
  })
}

/** Who is expected to answer a question, who may, and how to change the first. */
export function Assignment({ question }: { readonly question: Interaction }) {
  const me = useMe()
  const { mutate, isPending, error } = useAssign()
  const isAssigned = isMine(question, me.names)
  const assign = () => mutate({ question, isMe: true })
  useShortcut(text.question.shortcuts, 'a', text.assignment.assign, assign)
  return (
    <div className="assignment">
      <p className="row">
        <PersonIcon />
        <span>{assignmentOf(question, me)}</span>
        {!isAssigned && (
          <button
            type="button"
            className="button button--plain"
            disabled={isPending}
            onClick={assign}
          >
            {text.assignment.assign} <KeyHint>a</KeyHint>
          </button>
        )}
        {Boolean(question.assignedTo?.length) && !isAllowed(question) && (
          <button
            type="button"
            className="button button--plain"
            disabled={isPending}
            onClick={() => mutate({ question, isMe: false })}
          >
            {text.assignment.remove}
          </button>
        )}
        <AnsweringAs me={me} />
      </p>
      <Restriction question={question} me={me} />
      <OpenElsewhere question={question} />
      {error && <Problem error={error} />}
    </div>
  )
}

/** Whether it is assigned to all who may answer: then there is nothing to remove. */
function isAllowed({ assignees, assignedTo }: Interaction): boolean {
  return assignees !== null && assignees.join() === assignedTo?.join()
}

interface RestrictionProps {
  readonly question: Interaction
  readonly me: Me
}

function Restriction({ question: { assignees }, me }: RestrictionProps) {
  if (assignees === null) return null
  const names = namesOf(assignees)
  const overrides = me.isAdmin && !mayAnswer(assignees, me)
  return <p>{overrides ? text.assignment.override(names) : text.assignment.only(names)}</p>
}

/** A program may hold it just now: that is not an assignment. */
function OpenElsewhere({ question }: { readonly question: Interaction }) {
  const held = holder(question, useNow())
  // For an interactive session, this is shown above its form.
  if (!held || held === myName() || wantedOf(question)) return null
  return <p>{text.assignment.open(visible(holderName(held)))}</p>
}

/** The name that is recorded with what is done here, beside the token's. */
function AnsweringAs({ me }: { readonly me: Me }) {
  return (
    <label className="row">
      <span className="quiet">{text.assignment.answeringAs}</span>
      <input
        className="input claim__name"
        defaultValue={givenName() ?? ''}
        placeholder={me.person ?? undefined}
        onChange={(event) => setMyName(event.target.value)}
      />
    </label>
  )
}
