/** The examples of the hooks' design, as they stand there, run against a real server. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { describe, expect, inject, it } from 'vitest'
import { useWorkflowData, useWorkflowVCR, WorkflowClientProvider } from '../src/index'
import { WorkflowUI } from './examples/WorkflowUI'
import { client } from './page'
import { TOKEN } from './serving'

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 1000 * 60, // 1 minute
      retry: 3,
      refetchOnWindowFocus: false,
    },
  },
})

function App({ sessionId }: { sessionId: string }) {
  return (
    <QueryClientProvider client={queryClient}>
      <WorkflowClientProvider baseUrl={inject('url')} token={TOKEN}>
        <WorkflowUI sessionId={sessionId} />
        <EventLog sessionId={sessionId} />
        <VCRControls sessionId={sessionId} />
      </WorkflowClientProvider>
    </QueryClientProvider>
  )
}

function EventLog({ sessionId }: { sessionId: string }) {
  const { events } = useWorkflowData(sessionId)
  return (
    <ul>
      {events.map((e, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: so stands the example
        <li key={i}>
          {e.name}: {JSON.stringify(e.payload)}
        </li>
      ))}
    </ul>
  )
}

function VCRControls({ sessionId }: { sessionId: string }) {
  const { pause, resume, fork, isPausing, isResuming } = useWorkflowVCR()
  return (
    <div>
      <button type="button" onClick={() => pause(sessionId)} disabled={isPausing}>
        Pause it
      </button>
      <button type="button" onClick={() => resume(sessionId)} disabled={isResuming}>
        Resume it
      </button>
      <button type="button" onClick={() => fork(sessionId, { phase: 'plan', occurrence: 'first' })}>
        Fork
      </button>
    </div>
  )
}

describe('the examples', () => {
  it('run a session to its end, with a pause and a fork', async () => {
    const board = client()
    const id = await board.createSession('trip', 'Lisbon')
    render(<App sessionId={id} />)
    await screen.findByText('Go to Lisbon?')
    await screen.findByText(/State: .*"city":"Lisbon"/)
    screen.getByText(/events, running/)

    fireEvent.click(screen.getByText('Pause'))
    await screen.findByText(/events, stopped/)
    fireEvent.click(screen.getByText('Resume'))
    await screen.findByText(/events, running/)

    fireEvent.click(screen.getByText('Fork'))
    await waitFor(async () => {
      expect((await board.listSessions({ parent: id })).sessions).toHaveLength(1)
    })

    fireEvent.click(screen.getByText('Approve'))
    await screen.findByText(/workflow:completed/)
    await screen.findByText(/events, stopped/)
    expect(screen.queryByText('Approve')).toBeNull()
    expect(screen.getAllByRole('listitem')).toHaveLength((await board.getSession(id)).position)
  })
})
