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
  return (
    <>
      {type === 'plan' && ask.plan ? (
        <PlanText text={ask.plan} />
      ) : (
        <ToolCall tool={ask.toolName} input={ask.toolInput} />
      )}
      {ask.truncated && (
        <p className="problem" role="note">
          <strong>Too long to keep: only part of it is here.</strong> Read all of it in the agent's
          terminal, and allow it there. You can still deny it here.
        </p>
      )}
    </>
  )
}
