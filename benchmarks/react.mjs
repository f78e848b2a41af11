/**
 * One round of benchmarks/react.py: a session's events into a mounted component, in a process of
 * its own. Prints how long it took until the last was shown, and how often React rendered.
 *
 *   node benchmarks/react.mjs hook|chunk|event URL SESSION EVENTS
 */
import { argv, env, exit } from 'node:process'
import { QueryClient, QueryClientProvider, skipToken, useQuery } from '@tanstack/react-query'
import { JSDOM } from 'jsdom'
import { createElement, useEffect } from 'react'

const [, , kind, url, sessionId, count] = argv
const { window } = new JSDOM('<div id="root"></div>')
globalThis.window = window
globalThis.document = window.document
// React looks for these when it is loaded, so it is loaded after them.
const { createRoot } = await import('react-dom/client')
const { createClient, useWorkflow, WorkflowClientProvider } = await import('@callboard/react')

const client = createClient({ baseUrl: url, token: env.CALLBOARD_TOKEN })
const cache = new QueryClient()
let renders = 0
let start = 0

function shown(events) {
  renders += 1
  if (events.length < Number(count)) return
  // Not before React is done with it.
  setTimeout(() => {
    console.log(JSON.stringify({ ms: performance.now() - start, renders, events: events.length }))
    exit(0)
  })
}

/** What a page does that has this package. */
function Hook() {
  const { events, isCompleted } = useWorkflow(sessionId)
  shown(isCompleted ? events : [])
  return createElement('p', null, events.length)
}

/** What a page does without it: the same stream into a bare query, appended as `append` does. */
function bare(append) {
  return function Bare() {
    const { data = [] } = useQuery({
      queryKey: ['events', sessionId],
      queryFn: skipToken,
      structuralSharing: false,
    })
    useEffect(() => {
      const set = (change) => cache.setQueryData(['events', sessionId], change)
      const stream = client.follow(sessionId, { onEvents: (events) => append(set, events) })
      return () => stream.close()
    }, [])
    shown(data)
    return createElement('p', null, data.length)
  }
}

const KINDS = {
  hook: Hook,
  chunk: bare((set, events) => set((old = []) => old.concat(events))),
  event: bare((set, events) => {
    for (const event of events) set((old = []) => [...old, event])
  }),
}

start = performance.now()
createRoot(window.document.getElementById('root')).render(
  createElement(
    QueryClientProvider,
    { client: cache },
    createElement(WorkflowClientProvider, { baseUrl: url, client }, createElement(KINDS[kind])),
  ),
)
