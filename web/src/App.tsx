import { useInbox, WorkflowClientProvider } from '@callboard/react'
import { QueryClientProvider } from '@tanstack/react-query'
import { Suspense, useEffect } from 'react'
import { lazily, prefetchPages } from './router/lazily'
import { useRoute } from './router/navigation'
import type { Route } from './router/route'
import { isSignedOut, queryClient } from './server/queries'
import { ErrorBoundary } from './shell/ErrorBoundary'
import { Loading } from './shell/Loading'
import { Lost } from './shell/Lost'
import { Shell } from './shell/Shell'
import { SignedOut, SpentLink } from './shell/SignedOut'

const BoardPage = lazily(() => import('./board/BoardPage').then((m) => m.BoardPage))
const ComparePage = lazily(() => import('./family/ComparePage').then((m) => m.ComparePage))
const FamilyPage = lazily(() => import('./family/FamilyPage').then((m) => m.FamilyPage))
const HomePage = lazily(() => import('./home/HomePage').then((m) => m.HomePage))
const InboxPage = lazily(() => import('./inbox/InboxPage').then((m) => m.InboxPage))
const PeoplePage = lazily(() => import('./people/PeoplePage').then((m) => m.PeoplePage))
const PlatePage = lazily(() => import('./board/PlatePage').then((m) => m.PlatePage))
const SessionPage = lazily(() => import('./session/SessionPage').then((m) => m.SessionPage))
const SettingsPage = lazily(() => import('./settings/SettingsPage').then((m) => m.SettingsPage))
const SessionsPage = lazily(() => import('./sessions/SessionsPage').then((m) => m.SessionsPage))
const UsagePage = lazily(() => import('./usage/UsagePage').then((m) => m.UsagePage))
const WorkersPage = lazily(() => import('./workers/WorkersPage').then((m) => m.WorkersPage))
const WorkflowPage = lazily(() => import('./workflows/WorkflowPage').then((m) => m.WorkflowPage))
const WorkflowsPage = lazily(() => import('./workflows/WorkflowsPage').then((m) => m.WorkflowsPage))

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
  useEffect(prefetchPages, [])
  if (route.page === 'link') return <SpentLink error={error} isSignedIn={status === 'connected'} />
  if (isSignedOut(error)) return <SignedOut error={error} />
  return (
    <Shell route={route}>
      <ErrorBoundary resetKey={JSON.stringify(route)}>
        <Suspense fallback={<Loading />}>
          <Page route={route} />
        </Suspense>
      </ErrorBoundary>
    </Shell>
  )
}

function Page({ route }: { readonly route: Route }) {
  switch (route.page) {
    case 'home':
      return <HomePage />
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
    case 'workflows':
      return <WorkflowsPage />
    case 'workflow':
      return <WorkflowPage key={route.name} name={route.name} />
    case 'board':
      return <BoardPage />
    case 'plate':
      return <PlatePage key={route.id} id={route.id} />
    case 'usage':
      return <UsagePage />
    case 'workers':
      return <WorkersPage />
    case 'people':
      return <PeoplePage />
    case 'settings':
      return <SettingsPage />
    case 'link':
      return null
    case 'lost':
      return <Lost path={route.path} />
  }
}
