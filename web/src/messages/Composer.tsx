import { type UseMessagesResult, useMessages } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { useId } from 'react'
import { agentName } from '../board/names'
import { useKept } from '../forms/useKept'
import { KeyHint } from '../parts/KeyHint'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { Interrupt } from './Interrupt'
import { Queue } from './Queue'
import { Resume } from './Resume'
import { text } from './text'

/** How many bytes the server takes as a message. */
const LONGEST = 262_144
const WHENS = ['now', 'after_turn'] as const

type When = (typeof WHENS)[number]

/** Messages to a coding agent: those that were sent, and a new one. */
export function Composer({ plate }: { readonly plate: Plate }) {
  const told = useMessages(plate.plateId)
  const key = `message.${plate.plateId}`
  const [draft, setDraft] = useKept(key, () => '')
  const [when, setWhen] = useKept<When>(`${key}.when`, () => 'now')
  const problem = problemOf(told.error, told.reach !== null)
  const send = useMutation({
    mutationFn: () => told.say(draft, when),
    onSuccess: () => setDraft(''),
  })
  const again = (lost: string) => setDraft(draft.trim() ? `${draft.trimEnd()}\n\n${lost}` : lost)
  return (
    <section className="composer" aria-label={text.title}>
      {problem && <Problem error={problem} />}
      <Queue told={told} onAgain={again} />
      {send.error && <Problem error={send.error} />}
      <Draft
        {...{ plate, draft, setDraft, when, setWhen, told }}
        isSending={send.isPending}
        onSend={() => send.mutate()}
      />
    </section>
  )
}

/** The agents that only a command on their own machine starts. */
const BY_COMMAND = 'acp'

interface DraftProps {
  readonly plate: Plate
  readonly told: UseMessagesResult
  readonly draft: string
  readonly setDraft: (draft: string) => void
  readonly when: When
  readonly setWhen: (when: When) => void
  readonly isSending: boolean
  readonly onSend: () => void
}

function Draft(props: DraftProps) {
  const { plate, told, draft, setDraft, when, setWhen, isSending, onSend } = props
  const id = useId()
  const refusal = refusalOf(plate, draft)
  const canSend = refusal === null && draft.trim() !== '' && !isSending
  return (
    <form
      className="composer__form"
      onSubmit={(event) => {
        event.preventDefault()
        if (canSend) onSend()
      }}
    >
      <textarea
        className="input composer__text"
        rows={2}
        aria-label={text.message(agentName(plate.agent))}
        aria-describedby={`${id}-how`}
        placeholder={text.placeholder}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
          event.preventDefault()
          if (canSend) onSend()
        }}
      />
      <p className="composer__how" id={`${id}-how`}>
        {refusal ?? <How plate={plate} told={told} when={when} />}
      </p>
      <div className="composer__buttons">
        <fieldset className="tabs composer__when">
          <legend className="hidden">{text.when}</legend>
          {WHENS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === when}
              title={text.whenHints[one]}
              onClick={() => setWhen(one)}
            >
              {text.whens[one]}
            </button>
          ))}
        </fieldset>
        <span className="grow" />
        {plate.status !== 'closed' && <Interrupt plate={plate} told={told} />}
        {plate.status === 'closed' && plate.agent !== BY_COMMAND && (
          <Resume plate={plate} prompt={draft} onResumed={() => setDraft('')} />
        )}
        <button type="submit" className="button button--lamp" disabled={!canSend}>
          {text.send} <KeyHint>{text.sendKey}</KeyHint>
        </button>
      </div>
    </form>
  )
}

/** Why nothing can be sent, where that is known here. */
function refusalOf(plate: Plate, draft: string): string | null {
  if (plate.status === 'closed')
    return plate.agent === BY_COMMAND ? text.endedByCommand(plate.plateId) : text.ended
  const bytes = draft.length > LONGEST / 4 ? new TextEncoder().encode(draft).length : 0
  return bytes > LONGEST ? text.tooLong(LONGEST) : null
}

/** How and when the message will be delivered. */
function How({ plate, told: { reach }, when }: Pick<DraftProps, 'plate' | 'told' | 'when'>) {
  if (!reach) return text.checking
  if (reach.way === null) return reach.note ? text.waits(visible(reach.note)) : text.unreachable
  const usual = plate.status === 'idle' ? text.reaches.idle : text.reaches[when]
  return (
    <>
      {reach.note ? visible(reach.note) : usual} {!reach.authority && text.noAuthority}
    </>
  )
}
