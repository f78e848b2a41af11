import { Forbidden } from '@callboard/react'
import { askOf } from '../asks/ask'
import { Decline } from '../asks/Decline'
import { Questions } from '../asks/Questions'
import { type Verdict as Ruled, Ruling } from '../asks/Ruling'
import { forget } from '../forms/useKept'
import { Decision } from '../interactive/Decision'
import { keptAs as decisionKey, useDecision } from '../interactive/useDecision'
import { decisionsOf, wantedOf } from '../interactive/wanted'
import { isSettling } from '../outbox/moving'
import { UndoButton } from '../outbox/Outbox'
import { useOutbox } from '../outbox/outbox'
import { sendAnswer } from '../outbox/sending'
import { useShowing } from '../outbox/shown'
import type { Interaction } from '../server/types'
import { type Answer, signed, useAnswer } from '../server/useAnswer'
import { mannerOf } from './manner'
import { text } from './text'
import { useAnswerBar } from './useAnswerBar'
import { Options, TextAnswer, Verdicts } from './ways'

interface Props {
  readonly question: Interaction
  /** Whether the keys answer this question; only one on a page can have them. */
  readonly keys: boolean
  /** Whether there is little room, as on a card of the board. */
  readonly compact?: boolean
  /** Told when an answer did not count, and with null when a new one is tried. */
  readonly onRefused: (error: Error | null) => void
  /** Told when an answer is given that can still be taken back. */
  readonly onHeld?: () => void
}

/** The ways to answer a question: with one click, one key, a text, or a form. */
export function AnswerForm({ question, keys, compact = false, onRefused, onHeld }: Props) {
  const { id } = question
  const { mutateAsync, isPending } = useAnswer()
  const held = useOutbox().find((one) => one.id === id)
  const isBusy = isPending || held !== undefined
  const bar = useAnswerBar(!compact, isForm(question))
  useShowing(id)
  const answer: Send = (given, onError) => {
    if (isBusy || isSettling()) return
    onRefused(null)
    const body = signed(given)
    const isHeld = sendAnswer({
      question,
      given: body,
      send: () => mutateAsync({ id, ...body }).then(() => forget(keptAs(question))),
      onError: (error) => {
        onError?.(error)
        onRefused(error)
      },
    })
    if (isHeld) onHeld?.()
  }
  return (
    <div className={bar ? 'answers answers--sticky' : 'answers'} ref={bar}>
      <Ways
        {...{ question, keys, compact, answer, onRefused }}
        disabled={isBusy}
        onHeld={onHeld ?? ignore}
      />
      {isBusy && (
        <div className="row answers__sending" role="status">
          <span>{text.answer.sending}</span>
          {held && !held.isSending && <UndoButton outgoing={held} keys={keys} />}
        </div>
      )}
    </div>
  )
}

const BUTTONS: ReadonlySet<string> = new Set(['verdict', 'option', 'text'])

/** Whether an answer takes a form, which can be higher than the window. */
function isForm(question: Interaction): boolean {
  return !BUTTONS.has(mannerOf(question))
}

function ignore(): void {}

const keptAs = (question: Interaction) => `callboard.answer.${question.id}`

type Send = (given: Omit<Answer, 'id'>, onError?: (error: Error) => void) => void

interface WaysProps extends Required<Props> {
  readonly disabled: boolean
  readonly answer: Send
}

function Ways(props: WaysProps) {
  const { question, keys, disabled, answer } = props
  switch (mannerOf(question)) {
    case 'verdict':
      return <Approval {...props} />
    case 'option':
      return (
        <div className="options">
          <Options
            {...{ keys, disabled }}
            options={question.options ?? []}
            onChoose={(value) => answer({ value })}
          />
          {question.other && <FreeText {...props} label={text.answer.other} />}
          <Declined {...props} />
        </div>
      )
    case 'text':
      return (
        <>
          <FreeText {...props} label={text.answer.yours} />
          <Declined {...props} />
        </>
      )
    case 'ruling':
      return <AgentRuling {...props} />
    case 'answers':
      return <AgentQuestions {...props} />
    case 'decision':
      return <SessionDecision {...props} />
    case 'elsewhere':
      return (
        <p className="notice">
          {text.answer.unknown} <code>{question.type}</code>
          {text.answer.elsewhere}
        </p>
      )
  }
}

function Approval({ question, keys, disabled, answer }: WaysProps) {
  const decide = (approved: boolean, message?: string) =>
    answer(message ? { value: { approved, message } } : { approved })
  return <Verdicts {...{ keys, disabled }} keep={keptAs(question)} onVerdict={decide} />
}

function FreeText({ question, disabled, answer, label }: WaysProps & { readonly label: string }) {
  return (
    <TextAnswer
      {...{ disabled, label }}
      keep={keptAs(question)}
      onSend={(value) => answer({ value })}
    />
  )
}

/** End a question without an answer. A workflow needs one to continue, so its questions have no such end. */
function Declined({ question, disabled, onRefused }: WaysProps) {
  const { mutate, isPending, end } = useDecision(question.id)
  if (question.phase !== null) return null
  const decline = (message: string) => {
    onRefused(null)
    mutate(end({ outcome: 'cancelled', ...(message && { error: message }) }), {
      onError: onRefused,
    })
  }
  return (
    <Decline
      summary={text.answer.declineWith}
      no={text.answer.decline}
      disabled={disabled || isPending}
      keep={decisionKey(question.id)}
      decline={decline}
    />
  )
}

/** It starts over for the next, where several people decide one after the other. */
function SessionDecision({ question, keys, disabled, onRefused, onHeld }: WaysProps) {
  const wanted = wantedOf(question)
  if (!wanted) return null
  return (
    <Decision
      key={decisionsOf(question).length}
      {...{ question, wanted, keys, disabled, onRefused, onHeld }}
    />
  )
}

// Known once it was refused; the next person to sign in gets a fresh page.
let mayNotAlways = false
let mayNotEdit = false

function AgentRuling(props: WaysProps) {
  const { question, keys, disabled, compact, answer } = props
  const ask = askOf(question)
  if (!ask) return <Approval {...props} />
  const rule = (value: Ruled) =>
    answer({ value }, (error) => {
      if (!(error instanceof Forbidden)) return
      if (value.always) mayNotAlways = true
      if (value.updatedInput) mayNotEdit = true
    })
  const type = question.type === 'plan' ? 'plan' : 'permission'
  return <Ruling {...{ type, ask, keys, disabled, compact, mayNotAlways, mayNotEdit, rule }} />
}

function AgentQuestions(props: WaysProps) {
  const { question, keys, disabled, compact, answer } = props
  const { questions = [], omitted = 0 } = askOf(question) ?? {}
  if (questions.length === 0) return <FreeText {...props} label={text.answer.yours} />
  const send = (answers: Readonly<Record<string, unknown>>) => answer({ value: { answers } })
  const decline = (message: string) =>
    answer({ value: { approved: false, ...(message && { message }) } })
  return (
    <Questions
      {...{ questions, omitted, keys, disabled, compact, decline }}
      keep={keptAs(question)}
      answer={send}
    />
  )
}
