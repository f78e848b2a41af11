import { useState } from 'react'
import { SchemaForm } from '../forms/SchemaForm'
import { holder } from '../inbox/urgency'
import { Options, TextAnswer, Verdicts } from '../inbox/ways'
import { isSettling } from '../outbox/moving'
import { sendAnswer } from '../outbox/sending'
import { useNow } from '../parts/useNow'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { myName } from '../server/useClaim'
import { EndButton } from './EndButton'
import { Participants } from './Participants'
import { text as words } from './text'
import { faultOf, keptAs, useDecision, useHolding } from './useDecision'
import { holderName, missingOf, type Wanted } from './wanted'

interface Props {
  readonly question: Interaction
  readonly wanted: Wanted
  readonly keys: boolean
  readonly disabled: boolean
  /** Told when a decision did not count, and with null when a new one is tried. */
  readonly onRefused: (error: Error | null) => void
  /** Called when a decision was made that can still be undone. */
  readonly onHeld: () => void
}

/** Decide an interactive session here, without an agent. */
export function Decision({ question, wanted, keys, disabled, onRefused, onHeld }: Props) {
  const missing = missingOf(question)
  const isShared = wanted.participants.length > 0
  const [by, setBy] = useState(missing.includes(myName()) ? myName() : null)
  const [isWriting, setWriting] = useState(false)
  const { mutateAsync, isPending, error, reset, end } = useDecision(question.id)
  const isBlocked = disabled || isPending || (isShared && by === null)
  // Where several decide, no one keeps the others off.
  useHolding(question.id, isWriting && !isShared)
  const fault = faultOf(error)
  const decide = (response: unknown, message?: string) => {
    if (isBlocked || isSettling()) return
    onRefused(null)
    const why = message && { error: message }
    const decided = { outcome: 'completed', response, ...why, ...(by !== null && { by }) } as const
    const given = end(decided)
    const isHeld = sendAnswer({
      question,
      given,
      route: 'complete',
      send: () => mutateAsync(given),
      onError: (refusal) => !faultOf(refusal) && onRefused(refusal),
    })
    if (isHeld) onHeld()
  }
  const change = () => {
    setWriting(true)
    if (error) reset()
  }
  return (
    <div className="decision">
      <Holder question={question} />
      {isShared && <Participants question={question} by={by} onChoose={setBy} />}
      <Ways
        {...{ question, wanted, keys, decide }}
        disabled={isBlocked}
        refused={fault ? [fault] : []}
        onChange={change}
      />
      <div className="row decision__foot">
        <EndButton question={question} isShared={isShared} onRefused={onRefused} />
        <span className="field__hint">
          {words.orInTerminal} <code>{words.attend}</code>
        </span>
      </div>
    </div>
  )
}

/** Someone may be at it in a terminal: their session would be for nothing. */
function Holder({ question }: { readonly question: Interaction }) {
  const held = holder(question, useNow())
  if (!held || held === myName()) return null
  return (
    <p className="notice">
      <strong>{visible(holderName(held))}</strong> {words.isOnThis}
    </p>
  )
}

interface WaysProps {
  readonly question: Interaction
  readonly wanted: Wanted
  readonly keys: boolean
  readonly disabled: boolean
  readonly refused: ReadonlyArray<{ readonly at: string; readonly message: string }>
  readonly decide: (response: unknown, message?: string) => void
  readonly onChange: () => void
}

function Ways({ question, wanted, keys, disabled, refused, decide, onChange }: WaysProps) {
  const { outcome } = wanted
  const verdicts = (
    <Verdicts
      {...{ keys, disabled }}
      keep={keptAs(question.id)}
      onVerdict={(yes, message) => decide(yes ? 'approved' : 'rejected', message)}
    />
  )
  const text = (label: string) => (
    <TextAnswer {...{ disabled, label, onChange }} onSend={decide} keep={keptAs(question.id)} />
  )
  switch (outcome.kind) {
    case 'approval':
      return verdicts
    case 'selection':
      return <Options {...{ keys, disabled }} options={outcome.options} onChoose={decide} />
    case 'freeform':
      return text(words.yourDecision)
    case 'open':
      return (
        <>
          {verdicts}
          {text(words.ownWords)}
        </>
      )
    case 'structured':
      return (
        <SchemaForm
          {...{ keys, disabled, refused, onChange }}
          schema={outcome.schema}
          keep={keptAs(question.id)}
          onSend={decide}
        />
      )
  }
}
