/** What the hooks' design lists and no other test shows: exports, cache keys and loading states. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import type { ReactNode } from 'react'
import { describe, expect, inject, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import * as everything from '../src/index'
import {
  createClient,
  summarise,
  useWorkflow,
  useWorkflowActions,
  useWorkflowHITL,
  useWorkflowVCR,
  WorkflowClientProvider,
} from '../src/index'
import { client, page } from './page'
import { TOKEN } from './serving'

const ADDED = `useWorkflow useWorkflowData useWorkflowActions useWorkflowVCR useWorkflowHITL
  WorkflowClientProvider`.split(/\s+/)

const REMOVED = `useEvents useWorkflowState useSendInput useStatus useCreateSession
  useConnectSession useSessionId useDisconnect usePosition useIsConnected useFilteredEvents
  useStateAt usePause useResume useFork useIsRunning useIsPaused usePendingInteraction
  usePendingInteractions WorkflowContext`.split(/\s+/)

const INTERNAL = `useSessionQuery useEventsQuery useStateAtQuery useCreateSessionMutation
  useSendInputMutation usePauseMutation useResumeMutation useForkMutation
  useEventSubscription`.split(/\s+/)

describe('the exports', () => {
  it('have what was added, and neither what was removed nor the primitives', () => {
    expect(Object.keys(everything)).toEqual(expect.arrayContaining(ADDED))
    const hidden = new Set([...REMOVED, ...INTERNAL])
    expect(Object.keys(everything).filter((name) => hidden.has(name))).toEqual([])
  })

  it('can be shaken, on React 18 and on version 5 of React Query', () => {
    expect(manifest.sideEffects).toBe(false)
    expect(manifest.peerDependencies.react).toContain('^18.0.0')
    expect(manifest.peerDependencies['@tanstack/react-query']).toBe('^5.0.0')
  })
})

describe('the cache', () => {
  it('has events and states under the keys of the design, shared by all components', async () => {
    const queries = new QueryClient()
    const id = await client().createSession('trip', 'Ghent')
    const wrapper = page({ queries })
    const { result } = renderHook(() => [useWorkflow(id), useWorkflow(id)] as const, { wrapper })
    await waitFor(() => expect(result.current[0].state).toMatchObject({ city: 'Ghent' }))
    await waitFor(() => expect(result.current[0].pendingInteractions).toHaveLength(1))
    const [one, other] = result.current
    expect(queries.getQueryData(['events', id])).toBe(one.events)
    expect(other.events).toBe(one.events)
    const { statePosition } = summarise(one.events)
    await waitFor(() => {
      const state = queries.getQueryData(['state', id, statePosition])
      expect(state).toBeDefined()
      expect(result.current[0].state).toBe(state)
    })
  })
})

describe('a checkpoint', () => {
  it('repeats the state and asks for no new one', () => {
    const events = ['workflow:started', 'state:intent', 'state:checkpoint'].map((name, at) => ({
      id: `e${at}`,
      sessionId: 's',
      position: at + 1,
      name,
      _tag: name,
      version: 1,
      payload: {},
      timestamp: '2026-01-31T12:00:00.000Z',
      causedBy: null,
    }))
    expect(summarise(events)).toMatchObject({ position: 3, statePosition: 2 })
  })
})

/** A page whose requests wait until they are let through. */
function slowPage() {
  let release = () => {}
  let held: Promise<void> | undefined
  const slow = createClient({
    baseUrl: inject('url'),
    token: TOKEN,
    fetch: async (input, init) => {
      if (init?.method === 'POST') await held
      return fetch(input, init)
    },
  })
  const queries = new QueryClient()
  return {
    hold() {
      held = new Promise((done) => {
        release = done
      })
    },
    release: () => release(),
    wrapper: ({ children }: { readonly children: ReactNode }) => (
      <QueryClientProvider client={queries}>
        <WorkflowClientProvider baseUrl="" client={slow}>
          {children}
        </WorkflowClientProvider>
      </QueryClientProvider>
    ),
  }
}

describe('what is in progress', () => {
  it('is shown while it is, and not after', async () => {
    const id = await client().createSession('trip', 'Turin')
    const { hold, release, wrapper } = slowPage()
    const { result } = renderHook(
      () => ({
        ...useWorkflowActions(),
        ...useWorkflowVCR(),
        ...useWorkflowHITL(id),
      }),
      { wrapper },
    )
    await waitFor(() => expect(result.current.pending).toHaveLength(1))
    const question = result.current.pending[0]?.id ?? ''
    const deeds = [
      ['isPausing', () => result.current.pause(id)],
      ['isResuming', () => result.current.resume(id)],
      ['isForking', () => result.current.fork(id, { phase: 'plan', occurrence: 'first' })],
      ['isCreating', () => result.current.create('trip', 'Pisa')],
      ['isResponding', () => result.current.respond(id, question, 'yes', true)],
    ] as const
    for (const [flag, deed] of deeds) {
      hold()
      let done: Promise<unknown> = Promise.resolve()
      act(() => {
        done = deed()
      })
      await waitFor(() => expect(result.current[flag]).toBe(true))
      release()
      await act(() => done)
      await waitFor(() => expect(result.current[flag]).toBe(false))
    }
  })

  it('is shown of sending an answer', async () => {
    const id = await client().createSession('trip', 'Parma')
    const { hold, release, wrapper } = slowPage()
    const { result } = renderHook(() => useWorkflow(id), { wrapper })
    await waitFor(() => expect(result.current.pendingInteractions).toHaveLength(1))
    const question = result.current.pendingInteractions[0]?.id ?? ''
    hold()
    let sent: Promise<unknown> = Promise.resolve()
    act(() => {
      sent = result.current.send({ id: question, value: 'yes', approved: true })
    })
    await waitFor(() => expect(result.current.isSending).toBe(true))
    release()
    await act(() => sent)
    await waitFor(() =>
      expect(result.current).toMatchObject({ isSending: false, isCompleted: true }),
    )
  })
})
