import { useState } from 'react'
import { newBatch } from '../outbox/outbox'
import { sendAnswer } from '../outbox/sending'
import { Dialog } from '../parts/Dialog'
import { say } from '../parts/Toasts'
import { firstLine, visible } from '../parts/visible'
import { promptOf, titleOf } from '../prompts/folding'
import type { Interaction } from '../server/types'
import { signed, useAnswer } from '../server/useAnswer'
import { useAssign } from './Assignment'
import { mannerOf } from './manner'
import { text } from './text'

interface Props {
  readonly questions: ReadonlyArray<Interaction>
  readonly onDone: () => void
}

const MOST = 100

/** What can be done with several questions at once. */
export function BulkBar({ questions, onDone }: Props) {
  const [verdict, setVerdict] = useState<boolean | null>(null)
  const { mutateAsync: assign, isPending } = useAssign()
  const count = questions.length
  const areApprovals = questions.every((one) => mannerOf(one) === 'verdict')
  const refusal = areApprovals ? (count > MOST ? text.bulk.most(MOST) : null) : text.bulk.only
  const assignAll = async () => {
    try {
      for (const question of questions) await assign({ question, isMe: true })
      say(text.bulk.assigned(count))
      onDone()
    } catch (error) {
      say(text.bulk.notAssigned((error as Error).message))
    }
  }
  return (
    <section className="bulk row" aria-label={text.bulk.label}>
      <strong>{text.bulk.selected(count)}</strong>
      <button
        type="button"
        className="button button--lamp"
        disabled={refusal !== null}
        onClick={() => setVerdict(true)}
      >
        {text.bulk.approve}
      </button>
      <button
        type="button"
        className="button"
        disabled={refusal !== null}
        onClick={() => setVerdict(false)}
      >
        {text.bulk.reject}
      </button>
      <button
        type="button"
        className="button"
        disabled={isPending}
        onClick={() => void assignAll()}
      >
        {text.bulk.assign}
      </button>
      <button type="button" className="button button--plain" onClick={onDone}>
        {text.bulk.clear}
      </button>
      {refusal && <span className="quiet">{refusal}</span>}
      {verdict !== null && (
        <Confirmation
          questions={questions}
          approved={verdict}
          onClose={() => setVerdict(null)}
          onDone={onDone}
        />
      )}
    </section>
  )
}

interface ConfirmationProps extends Props {
  readonly approved: boolean
  readonly onClose: () => void
}

/** One confirmation for all of them, which shows every question. */
function Confirmation({ questions, approved, onClose, onDone }: ConfirmationProps) {
  const { mutateAsync } = useAnswer()
  const count = questions.length
  const confirm = () => {
    const title = approved ? text.bulk.approving(count) : text.bulk.rejecting(count)
    const batch = newBatch(title)
    const given = signed({ approved })
    for (const question of questions) {
      const send = () => mutateAsync({ id: question.id, ...given })
      sendAnswer({ question, given, send, batch })
    }
    onDone()
  }
  return (
    <Dialog
      title={approved ? text.bulk.approveTitle(count) : text.bulk.rejectTitle(count)}
      onClose={onClose}
    >
      <ul className="bulk__list" aria-label={text.bulk.listed}>
        {questions.map((question) => (
          <li key={question.id}>
            <Listed question={question} />
          </li>
        ))}
      </ul>
      <p className="quiet">{text.bulk.undo}</p>
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.bulk.cancel}
        </button>
        <button
          type="button"
          className={approved ? 'button button--lamp' : 'button button--danger'}
          onClick={confirm}
        >
          {approved ? text.bulk.yes(count) : text.bulk.no(count)}
        </button>
      </div>
    </Dialog>
  )
}

function Listed({ question }: { readonly question: Interaction }) {
  const { prompt, workflow, sessionTitle } = question
  const about = [workflow, sessionTitle]
    .flatMap((part) => part ?? [])
    .map(visible)
    .join(' · ')
  return (
    <>
      <strong>{titleOf(firstLine(prompt))}</strong>
      {about && <span className="quiet"> {about}</span>}
      {promptOf(prompt).body && (
        <details>
          <summary>{text.bulk.whole}</summary>
          <pre>{visible(prompt)}</pre>
        </details>
      )}
    </>
  )
}
