import { useBoard, useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Ago } from '../parts/Ago'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { navigate, useParameter } from '../router/navigation'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { fits } from './names'
import { PlateCard } from './PlateCard'

const LOOK_EVERY_MS = 5_000
/** Reports that are older than this and not shown are worth a word. */
const BEHIND_MS = 2_000

/** Every coding agent's session, those that want a person first. */
export function BoardPage() {
  const { plates, needy, isLoading, error, refetch } = useBoard()
  const [q, setQ] = useParameter('q')
  const search = useRef<HTMLInputElement>(null)
  const shown = plates.filter((plate) => fits(plate, q ?? ''))
  const open = shown.filter((plate) => plate.status !== 'closed')
  const closed = shown.filter((plate) => plate.status === 'closed')
  const problem = problemOf(error, plates.length > 0)
  useShortcut('Board', '/', 'Search', () => search.current?.focus())
  return (
    <div className="page">
      <header>
        <div>
          <h1>Board</h1>
          <p className="quiet" role="status">
            {isLoading ? 'Loading…' : summary(plates, needy.length)}
          </p>
        </div>
        {plates.length > 0 && (
          <search className="board__search">
            <label>
              <span className="hidden">Search the board</span>
              <input
                ref={search}
                type="search"
                className="input"
                placeholder="Search by name, project, branch, agent"
                value={q ?? ''}
                onChange={(event) => setQ(event.target.value)}
                onKeyDown={(event) => {
                  if (event.key === 'Escape') event.currentTarget.blur()
                }}
              />
            </label>
          </search>
        )}
      </header>
      {problem && <Problem error={problem} onRetry={refetch} />}
      <CatchingUp />
      {!isLoading && !problem && plates.length === 0 && <NoPlates />}
      {plates.length > 0 && shown.length === 0 && (
        <Empty title="No matching agents">
          <p>Try another search.</p>
        </Empty>
      )}
      <Cards plates={open} />
      {closed.length > 0 && (
        <details className="board__closed" open={Boolean(q) || undefined}>
          <summary>{`${closed.length} closed`}</summary>
          <ul className="board">
            {closed.map((plate) => (
              <li key={plate.plateId}>
                <PlateCard plate={plate} chosen={false} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

/** The cards, and the one that was chosen with the keys. It is known by its id: cards move. */
function Cards({ plates }: { readonly plates: ReadonlyArray<Plate> }) {
  const [chosen, setChosen] = useState<string | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const at = plates.findIndex((plate) => plate.plateId === chosen)
  const move = (step: 1 | -1) => {
    const next = at < 0 ? 0 : Math.max(0, Math.min(plates.length - 1, at + step))
    setChosen(plates[next]?.plateId ?? null)
  }
  useShortcut('Board', 'j', 'Next plate', () => move(1))
  useShortcut('Board', 'k', 'Plate before', () => move(-1))
  useShortcut('Board', 'Enter', 'Open the plate', () => {
    if (at >= 0 && chosen) navigate(to.plate(chosen))
  })
  useEffect(() => {
    if (chosen === null) return
    list.current?.querySelector('.plate.is-chosen')?.scrollIntoView({ block: 'nearest' })
  }, [chosen])
  return (
    <ul className="board" ref={list}>
      {plates.map((plate) => (
        <li key={plate.plateId}>
          <PlateCard plate={plate} chosen={plate.plateId === chosen} />
        </li>
      ))}
    </ul>
  )
}

/** That agents have reported more than the board shows, while the server reads a backlog. */
function CatchingUp() {
  const client = useWorkflowClient()
  const { data } = useQuery({
    queryKey: ['backlog'],
    queryFn: ({ signal }) => client.getBacklog(signal),
    refetchInterval: LOOK_EVERY_MS,
  })
  if (!data?.oldestAt || Date.now() - Date.parse(data.oldestAt) < BEHIND_MS) return null
  const reports = data.hooks === 1 ? 'One report' : `${data.hooks.toLocaleString('en')} reports`
  return (
    <p className="notice" role="status">
      <strong>Catching up.</strong> {reports} from agents not shown yet; the oldest arrived{' '}
      <Ago moment={data.oldestAt} />.
    </p>
  )
}

function summary(plates: ReadonlyArray<Plate>, needy: number): string {
  const open = plates.filter((plate) => plate.status !== 'closed').length
  if (plates.length === 0) return 'Coding agents on this machine, and which of them need you.'
  const many = open === 1 ? '1 agent' : `${open || 'No'} agents`
  if (needy === 0) return `${many} · none need you`
  return `${many} · ${needy === 1 ? '1 needs you' : `${needy} need you`}`
}

function NoPlates() {
  return (
    <Empty title="No coding agents here yet">
      <p>
        Claude Code, Codex, Gemini CLI and opencode tell the board what they do through their hooks.
        Install them once, in a terminal on the machine that the agents run on:
      </p>
      <pre className="notice">callboard hooks install</pre>
      <p className="quiet">
        Then start an agent as always; it appears here by itself.{' '}
        <code>callboard hooks status</code> says whether anything was heard, and{' '}
        <code>callboard demo board</code> shows a board that moves without any agent.
      </p>
    </Empty>
  )
}
