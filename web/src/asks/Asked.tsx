import type { Ask } from './ask'
import { PlanText } from './PlanText'
import { ToolCall } from './ToolCall'
import { text } from './text'

interface Props {
  readonly type: string
  readonly ask: Ask
}

/** What a coding agent wants to do, or asks; what is to be chosen stands in the form. */
export function Asked({ type, ask }: Props) {
  if (type === 'question') return null
  const plan = type === 'plan' ? ask.plan : null
  // With a plan, an agent may ask for permissions: a yes allows these too.
  const { plan: _, ...besides } = ask.toolInput
  const input = plan ? besides : ask.toolInput
  return (
    <>
      {plan && <PlanText text={plan} />}
      {(!plan || Object.keys(besides).length > 0) && <ToolCall tool={ask.toolName} input={input} />}
      {ask.truncated && (
        <p className="problem" role="note">
          <strong>{text.truncated.title}</strong> {text.truncated.what}
        </p>
      )}
    </>
  )
}
