import { useSessions, useWorkflows } from '@callboard/react'
import { useRef } from 'react'
import { Empty } from '../parts/Empty'
import { PlusIcon } from '../parts/icons'
import { KeyHint } from '../parts/KeyHint'
import { Problem } from '../parts/Problem'
import { wordFor } from '../parts/Status'
import { useSettled } from '../parts/useSettled'
import { useParameter } from '../router/navigation'
import { problemOf } from '../server/queries'
import type { SessionStatus } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { SessionList } from './SessionList'
import { StartDialog } from './StartDialog'

const STATUSES: ReadonlyArray<SessionStatus> = [
  'waiting',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
]

/** Every session, with what finds one among many. */
export function SessionsPage() {
  const [q, setQ] = useParameter('q')
  const [status, setStatus] = useParameter('status')
  const [workflow, setWorkflow] = useParameter('workflow')
  const [start, setStart] = useParameter('start')
  const text = useSettled(q ?? '')
  const search = useRef<HTMLInputElement>(null)
  const { workflows } = useWorkflows()
  const found = useSessions({
    ...(text && { q: text }),
    ...(status && { status: status as SessionStatus }),
    ...(workflow && { workflow }),
  })
  const problem = problemOf(found.error, found.sessions.length > 0)
  const filtered = Boolean(q || status || workflow)
  useShortcut('Sessions', '/', 'Search', () => search.current?.focus())
  return (
    <div className="page">
      <header>
        <h1>Sessions</h1>
        <button type="button" className="button button--lamp" onClick={() => setStart('1')}>
          <PlusIcon /> Start a session <KeyHint>s</KeyHint>
        </button>
      </header>
      <search className="filters">
        <label className="filters__search">
          <span className="hidden">Search</span>
          <input
            ref={search}
            type="search"
            className="input"
            placeholder="Search by id, workflow or phase"
            value={q ?? ''}
            onChange={(event) => setQ(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') event.currentTarget.blur()
            }}
          />
        </label>
        <label>
          <span className="hidden">Workflow</span>
          <select
            className="input"
            value={workflow ?? ''}
            onChange={(event) => setWorkflow(event.target.value)}
          >
            <option value="">All workflows</option>
            {workflows.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <fieldset className="tabs">
          <legend className="hidden">Status</legend>
          <button type="button" aria-pressed={!status} onClick={() => setStatus(null)}>
            All
          </button>
          {STATUSES.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={status === one}
              onClick={() => setStatus(status === one ? null : one)}
            >
              {one === 'waiting' ? 'Waiting' : wordFor(one)}
            </button>
          ))}
        </fieldset>
      </search>
      {problem && <Problem error={problem} onRetry={found.refetch} />}
      {found.sessions.length > 0 && <SessionList {...found} />}
      {!found.isLoading && !found.error && found.sessions.length === 0 && (
        <NoSessions filtered={filtered} />
      )}
      {start && <StartDialog workflows={workflows} onClose={() => setStart(null)} />}
    </div>
  )
}

function NoSessions({ filtered }: { readonly filtered: boolean }) {
  if (filtered) {
    return (
      <Empty title="No matching sessions">
        <p>Try another search or clear filters.</p>
      </Empty>
    )
  }
  return (
    <Empty title="No session yet">
      <p>
        Start one here, or from a terminal with <code>callboard start WORKFLOW --input …</code>.
      </p>
    </Empty>
  )
}
