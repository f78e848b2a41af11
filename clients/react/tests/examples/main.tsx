/** A page of somebody's own, with the examples on it; its address says where the server is. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { WorkflowClientProvider } from '../../src/index'
import { Awaited, Consultation, Reactive, Structured } from './interactive'
import { Remembered } from './Remembered'
import { Watched } from './Watched'
import { SessionStatus, WorkflowUI } from './WorkflowUI'

const asked = new URLSearchParams(location.hash.slice(1))
const Watching = () => <Watched id={asked.get('id')} />
const Simple = () => {
  const sessionId = asked.get('id') ?? ''
  return (
    <>
      <WorkflowUI sessionId={sessionId} />
      <SessionStatus sessionId={sessionId} />
    </>
  )
}
const EXAMPLES = {
  Awaited,
  Reactive,
  Structured,
  Remembered,
  Simple,
  Watched: Watching,
} as const

const name = asked.get('example') ?? 'Awaited'
const Example = EXAMPLES[name as keyof typeof EXAMPLES]

createRoot(document.body.appendChild(document.createElement('main'))).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient()}>
      <WorkflowClientProvider
        baseUrl={asked.get('server') ?? ''}
        token={asked.get('token') ?? undefined}
      >
        {Example ? <Example /> : <Consultation automatedFixSucceeded={false} />}
      </WorkflowClientProvider>
    </QueryClientProvider>
  </StrictMode>,
)
