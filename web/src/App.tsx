import { useInbox, WorkflowClientProvider } from '@callboard/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { BoardPage } from './board/BoardPage'
import { PlatePage } from './board/PlatePage'
import { ComparePage } from './family/ComparePage'
import { FamilyPage } from './family/FamilyPage'
import { InboxPage } from './inbox/InboxPage'
import { Empty } from './parts/Empty'
import { Link } from './router/Link'
import { useRoute } from './router/navigation'
import { type Route, to } from './router/route'
import { isSignedOut, queryClient } from './server/queries'
import { SessionPage } from './session/SessionPage'
import { SessionsPage } from './sessions/SessionsPage'
import { ErrorBoundary } from './shell/ErrorBoundary'
import { Shell } from './shell/Shell'
import { SignedOut, SpentLink } from './shell/SignedOut'

/** The dashboard. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <WorkflowClientProvider baseUrl="">
        <Pages />
      </WorkflowClientProvider>
    </QueryClientProvider>
  )
}

function Pages() {
  const route = useRoute()
  const { error, status } = useInbox()
  if (route.page === 'link') return <SpentLink error={error} isSignedIn={status === 'connected'} />
  if (isSignedOut(error)) return <SignedOut error={error} />
  return (
    <Shell route={route}>
      <ErrorBoundary resetKey={JSON.stringify(route)}>
        <Page route={route} />
      </ErrorBoundary>
    </Shell>
  )
}

function Page({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'inbox':
      return <InboxPage question={route.question} />
    case 'sessions':
      return <SessionsPage />
    case 'session':
      return <SessionPage key={route.id} id={route.id} />
    case 'family':
      return <FamilyPage id={route.id} />
    case 'compare':
      return <ComparePage left={route.left} right={route.right} />
    case 'board':
      return <BoardPage />
    case 'plate':
      return <PlatePage key={route.id} id={route.id} />
    case 'link':
      return null
    case 'lost':
      return (
        <div className="page">
          <header>
            <h1>Nothing is here</h1>
          </header>
          <Empty title={`There is no page at ${route.path}`}>
            <p>
              Go to the <Link to={to.inbox()}>inbox</Link> or to the{' '}
              <Link to={to.sessions()}>sessions</Link>.
            </p>
          </Empty>
        </div>
      )
  }
}
