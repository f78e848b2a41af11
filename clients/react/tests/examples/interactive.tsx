/** The examples of interactive sessions, as they stand in their design, in components. */
import { useEffect, useRef, useState } from 'react'
import { z } from 'zod'
import { useHumanInteractive } from '../../src/index'

/** Does something once for a component, also in Strict Mode, which runs effects twice. */
function useMount(run: () => void): void {
  const isDone = useRef(false)
  useEffect(() => {
    if (!isDone.current) run()
    isDone.current = true
  })
}

export function Awaited() {
  const { requestAsync } = useHumanInteractive()
  const [isMigrated, setMigrated] = useState(false)

  async function reviewChanges() {
    // Awaiting blocks this code path until the session has ended. Others go on.
    const result = await requestAsync(
      'Please review the proposed database schema changes and approve or reject them.',
    )
    if (result.outcome === 'completed' && result.response === 'approved') {
      setMigrated(true)
    }
  }

  return (
    <div>
      <button type="button" onClick={() => void reviewChanges()}>
        Review the changes
      </button>
      {isMigrated && <p>The migration is done.</p>}
    </div>
  )
}

export function Reactive() {
  const { request, status, data } = useHumanInteractive()

  useMount(() => {
    request('Review the deployment plan')
  })

  if (status === 'pending') {
    return <p>Waiting for human review...</p>
  }
  if (status === 'success' && data?.outcome === 'completed' && data?.response === 'approved') {
    return <p>Deploying.</p>
  }
  return <p>Not deployed.</p>
}

const DecisionSchema = z.object({
  approved: z.boolean(),
  notes: z.string(),
})

export function Structured() {
  const { requestAsync, error } = useHumanInteractive<{ approved: boolean; notes: string }>()
  const [said, setSaid] = useState('')

  async function audit() {
    const result = await requestAsync(
      'Review the security audit findings and provide approval decision.',
      {
        context: {
          findings: ['A token is written to the log'],
          severity: 'high',
          affectedFiles: ['log.py'],
        },
        systemPrompt: `You are helping a security engineer review audit findings.
          Help them understand each finding and its implications.
          When they're ready to decide, capture their approval and any notes.`,
        outcomeSchema: {
          type: 'structured',
          jsonSchema: {
            type: 'object',
            properties: {
              approved: { type: 'boolean' },
              notes: { type: 'string' },
            },
            required: ['approved', 'notes'],
          },
        },
        zodSchema: DecisionSchema, // Checked here
        captureTranscript: true, // Kept only when asked for
      },
    )
    if (result.outcome === 'completed') {
      const decision = DecisionSchema.parse(result.response)
      setSaid(`${decision.approved ? 'Approved' : 'Rejected'}: ${decision.notes}`)
    }
  }

  return (
    <div>
      <button type="button" onClick={() => void audit().catch(() => {})}>
        Audit
      </button>
      <p>{said}</p>
      {error && <p role="alert">{error.message}</p>}
    </div>
  )
}

export function Consultation({
  automatedFixSucceeded,
}: {
  readonly automatedFixSucceeded: boolean
}) {
  const { requestAsync, cancel } = useHumanInteractive()
  const [outcome, setOutcome] = useState('')

  useMount(() => {
    // An expert is called where the agent is uncertain.
    const diagnosisPromise = requestAsync(
      'The automated analysis found an unusual pattern. Please investigate.',
      {
        context: {
          pattern: 'every 7 minutes',
          possibleCauses: ['a cron job', 'a cache'],
          logs: ['GET /health 500'],
        },
        systemPrompt: 'You are assisting a senior engineer in diagnosing an issue.',
        model: 'opus', // The most capable one
        timeout: 30 * 60 * 1000, // 30 minutes at most
        captureTranscript: true, // For the audit
      },
    )
    void diagnosisPromise.then((diagnosis) => setOutcome(diagnosis.outcome))
  })

  // It is taken back when conditions change.
  useEffect(() => {
    if (automatedFixSucceeded) cancel()
  }, [automatedFixSucceeded, cancel])

  return <p>The diagnosis is {outcome || 'awaited'}.</p>
}
