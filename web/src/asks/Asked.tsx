import type { Ask } from './ask'
import { PlanText } from './PlanText'
import { ToolCall } from './ToolCall'

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
          <strong>Too long to keep: only part of it is here.</strong> Read all of it in the agent's
          terminal, and allow it there. You can still deny it here.
        </p>
      )}
    </>
  )
}
