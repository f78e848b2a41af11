import { textOf, useWorkflowData } from '@callboard/react'
import { useMemo } from 'react'
import { askOf } from '../asks/ask'
import { wantedOf } from '../interactive/wanted'
import { Changes } from '../parts/Changes'
import { JsonTree } from '../parts/JsonTree'
import { visible } from '../parts/visible'
import type { Interaction, SerializedEvent } from '../server/types'
import { useStateAt } from '../server/useStateAt'
import { text } from './text'

/** What a person needs to know to answer: what was said, what changed, and the state. */
export function QuestionContext({ question }: { readonly question: Interaction }) {
  // A coding agent's question is shown whole above; the board's are of no session of ours.
  if (askOf(question)?.plateId) return <AllOfIt config={question.config} />
  // What an interactive session is about stands above, too.
  const isShown = wantedOf(question) !== null || askOf(question) !== null
  return (
    <div className="context">
      {!isShown && question.config !== null && question.config !== undefined && (
        <section>
          <h2>{text.context.details}</h2>
          <JsonTree value={question.config} label={text.context.details} height={240} />
        </section>
      )}
      {question.sessionId && (
        <SessionContext sessionId={question.sessionId} questionId={question.id} />
      )}
    </div>
  )
}

function AllOfIt({ config }: { readonly config: unknown }) {
  return (
    <div className="context">
      <details>
        <summary>{text.context.everything}</summary>
        <JsonTree value={config} label={text.context.everything} height={360} />
      </details>
    </div>
  )
}

function SessionContext(props: { readonly sessionId: string; readonly questionId: string }) {
  const { sessionId, questionId } = props
  const { events } = useWorkflowData(sessionId)
  const { asked, entered } = useMemo(() => places(events, questionId), [events, questionId])
  const said = useMemo(() => textOf(events.slice(0, asked)), [events, asked])
  const before = useStateAt(sessionId, entered)
  const after = useStateAt(sessionId, asked)
  if (asked === 0) return null
  return (
    <>
      {said && (
        <section>
          <h2>{text.context.output}</h2>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
          <pre className="speech" tabIndex={0}>
            {visible(said)}
          </pre>
        </section>
      )}
      {before.isSuccess && after.isSuccess && (
        <section>
          <h2>{text.context.changed}</h2>
          <Changes before={before.data} after={after.data} empty={text.context.unchanged} />
        </section>
      )}
      {after.isSuccess && (
        <details>
          <summary>{text.context.state}</summary>
          <JsonTree value={after.data} label={text.context.state} height={360} />
        </details>
      )}
    </>
  )
}

/** Where the question was asked, and where the phase before it started; 0 while that is unknown. */
function places(events: ReadonlyArray<SerializedEvent>, questionId: string) {
  let entered = 0
  for (const { name, payload, position } of events) {
    if (name === 'phase:entered') entered = position
    if (name === 'input:requested' && payload.id === questionId) return { asked: position, entered }
  }
  return { asked: 0, entered: 0 }
}
