import { useQuery } from '@tanstack/react-query'
import { useWorkflow, useWorkflowClient } from '../../src/index'

interface MyState {
  readonly city: string
  readonly plan: ReadonlyArray<string>
}

/** The simple example of the hooks' design, as it stands there. */
export function WorkflowUI({ sessionId }: { sessionId: string }) {
  const { state, events, isRunning, pendingInteractions, send, pause, resume } =
    useWorkflow<MyState>(sessionId)

  return (
    <div>
      <h1>State: {JSON.stringify(state)}</h1>
      <p>
        {events.length} events, {isRunning ? 'running' : 'stopped'}
      </p>

      {pendingInteractions.map((interaction) => (
        <div key={interaction.id}>
          <p>{interaction.prompt}</p>
          {interaction.type === 'approval' && (
            <>
              <button
                type="button"
                onClick={() => send({ id: interaction.id, value: 'yes', approved: true })}
              >
                Approve
              </button>
              <button
                type="button"
                onClick={() => send({ id: interaction.id, value: 'no', approved: false })}
              >
                Reject
              </button>
            </>
          )}
        </div>
      ))}

      <button type="button" onClick={pause} disabled={!isRunning}>
        Pause
      </button>
      <button type="button" onClick={resume} disabled={isRunning}>
        Resume
      </button>
    </div>
  )
}

/** How a session stands, by a query of one's own, which never fetches again by itself. */
export function SessionStatus({ sessionId }: { sessionId: string }) {
  const client = useWorkflowClient()
  const { data } = useQuery({
    queryKey: ['session', sessionId],
    queryFn: () => client.getSession(sessionId),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return <output>{data?.status}</output>
}
