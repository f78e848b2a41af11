import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { type CallboardClient, createClient } from './client/client.js'

const ClientContext = createContext<CallboardClient | null>(null)

/** Where the server is, and how it lets this page in. */
export interface WorkflowClientProviderProps {
  /** Such as `http://127.0.0.1:2255`, or empty for the server that the page came from. */
  readonly baseUrl: string
  /** Without a token the browser's cookie counts, on the same origin. */
  readonly token?: string | undefined
  /** A client that is made already; then the others do not count. */
  readonly client?: CallboardClient | undefined
  readonly children?: ReactNode
}

/** Gives the hooks below it their server. It stands inside a `QueryClientProvider`. */
export function WorkflowClientProvider(props: WorkflowClientProviderProps) {
  const { baseUrl, token, client: given, children } = props
  const cache = useQueryClient()
  const client = useMemo(
    () => given ?? clientFor(cache, baseUrl, token),
    [given, cache, baseUrl, token],
  )
  return <ClientContext.Provider value={client}>{children}</ClientContext.Provider>
}

// Two roots of one page that share a cache share their streams too: two streams that write into
// one cache would show now the one's events and now the other's.
const made = new WeakMap<QueryClient, Map<string, CallboardClient>>()

function clientFor(cache: QueryClient, baseUrl: string, token: string | undefined) {
  const clients = made.get(cache) ?? new Map<string, CallboardClient>()
  made.set(cache, clients)
  const key = `${baseUrl} ${token ?? ''}`
  const client = clients.get(key) ?? createClient({ baseUrl, token })
  clients.set(key, client)
  return client
}

/** The client of the nearest provider, for what no hook does. */
export function useWorkflowClient(): CallboardClient {
  const client = useContext(ClientContext)
  if (!client) throw new Error('Put a <WorkflowClientProvider baseUrl="…"> around this component.')
  return client
}
