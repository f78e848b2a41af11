import { useSessions, useWorkflows } from '@callboard/react'
import { useRef } from 'react'
import { Empty } from '../parts/Empty'
import { PlusIcon } from '../parts/icons'
import { KeyHint } from '../parts/KeyHint'
import { Problem } from '../parts/Problem'
import { wordFor } from '../parts/Status'
import { useSettled } from '../parts/useSettled'
import { navigate, useParameter } from '../router/navigation'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { SessionStatus } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { SessionList } from './SessionList'
import { StartDialog } from './StartDialog'
import { text } from './text'

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
  const wanted = useSettled(q ?? '')
  const search = useRef<HTMLInputElement>(null)
  const { workflows } = useWorkflows()
  const found = useSessions({
    ...(wanted && { q: wanted }),
    ...(status && { status: status as SessionStatus }),
    ...(workflow && { workflow }),
  })
  const problem = problemOf(found.error, found.sessions.length > 0)
  const filtered = Boolean(q || status || workflow)
  useShortcut(text.keys.group, '/', text.keys.search, () => search.current?.focus())
  return (
    <div className="page">
      <header>
        <h1>{text.page.title}</h1>
        <button type="button" className="button button--lamp" onClick={() => setStart('1')}>
          <PlusIcon /> {text.page.start} <KeyHint>s</KeyHint>
        </button>
      </header>
      <search className="filters">
        <label className="filters__search">
          <span className="hidden">{text.page.search}</span>
          <input
            ref={search}
            type="search"
            className="input"
            placeholder={text.page.placeholder}
            value={q ?? ''}
            onChange={(event) => setQ(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') event.currentTarget.blur()
            }}
          />
        </label>
        <label>
          <span className="hidden">{text.page.workflow}</span>
          <select
            className="input"
            value={workflow ?? ''}
            onChange={(event) => setWorkflow(event.target.value)}
          >
            <option value="">{text.page.allWorkflows}</option>
            {workflows.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
        <fieldset className="tabs">
          <legend className="hidden">{text.page.status}</legend>
          <button type="button" aria-pressed={!status} onClick={() => setStatus(null)}>
            {text.page.all}
          </button>
          {STATUSES.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={status === one}
              onClick={() => setStatus(status === one ? null : one)}
            >
              {one === 'waiting' ? text.page.waiting : wordFor(one)}
            </button>
          ))}
        </fieldset>
      </search>
      {problem && <Problem error={problem} onRetry={found.refetch} />}
      {found.sessions.length > 0 && <SessionList {...found} />}
      {!found.isLoading && !found.error && found.sessions.length === 0 && (
        <NoSessions
          isFiltered={filtered}
          canStart={workflows.length > 0}
          onStart={() => setStart('1')}
          onClear={() => navigate(to.sessions(), { replace: true })}
        />
      )}
      {start && <StartDialog workflows={workflows} onClose={() => setStart(null)} />}
    </div>
  )
}

interface NoSessionsProps {
  readonly isFiltered: boolean
  readonly canStart: boolean
  readonly onStart: () => void
  readonly onClear: () => void
}

function NoSessions({ isFiltered, canStart, onStart, onClear }: NoSessionsProps) {
  if (isFiltered) {
    return (
      <Empty title={text.filtered.title}>
        <p>{text.filtered.hint}</p>
        <button type="button" className="button" onClick={onClear}>
          {text.filtered.clear}
        </button>
      </Empty>
    )
  }
  const { empty } = text
  return (
    <Empty title={empty.title}>
      <p>{empty.about}</p>
      {canStart && (
        <button type="button" className="button button--lamp" onClick={onStart}>
          {text.page.start}
        </button>
      )}
      <p>
        {canStart ? empty.inTerminal : empty.noWorkflows}{' '}
        <code>{canStart ? empty.command : empty.serve}</code>
      </p>
    </Empty>
  )
}
