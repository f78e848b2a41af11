import { useBoard, useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Ago } from '../parts/Ago'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { useParameter } from '../router/navigation'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { StartAgent } from '../start/StartAgent'
import { Cards } from './Cards'
import { areOnSeveralHosts } from './hosts'
import { fits } from './names'
import { nextOrder, ORDERS, type Order, ordered, orderOf } from './order'
import { text } from './text'

const LOOK_EVERY_MS = 5_000
/** Reports that are older than this and not shown are worth a word. */
const BEHIND_MS = 2_000

/** Every coding agent's session, those that need a person first. */
export function BoardPage() {
  const { plates, needy, isLoading, error, refetch } = useBoard()
  const [q, setQ] = useParameter('q')
  const [sort, setSort] = useParameter('sort')
  const [isUnfolded, setUnfolded] = useState(false)
  const order = orderOf(sort)
  const shown = ordered(
    plates.filter((plate) => fits(plate, q ?? '')),
    order,
  )
  const open = shown.filter((plate) => plate.status !== 'closed')
  const closed = shown.filter((plate) => plate.status === 'closed')
  const problem = problemOf(error, plates.length > 0)
  return (
    <div className="page">
      <header>
        <div>
          <h1>{text.board}</h1>
          <p className="quiet" role="status">
            {isLoading ? text.loading : summary(plates, needy.length)}
          </p>
        </div>
        <div className="board__tools">
          {plates.length > 0 && (
            <>
              <Filter q={q ?? ''} setQ={setQ} />
              <Sort order={order} setOrder={(next) => setSort(next === ORDERS[0] ? null : next)} />
            </>
          )}
          <StartAgent />
        </div>
      </header>
      {problem && <Problem error={problem} onRetry={refetch} />}
      <CatchingUp />
      {!isLoading && !problem && plates.length === 0 && <NoPlates />}
      {plates.length > 0 && shown.length === 0 && (
        <Empty title={text.noMatch}>
          <p>{text.noMatchHint}</p>
          <button type="button" className="button" onClick={() => setQ(null)}>
            {text.clearSearch}
          </button>
        </Empty>
      )}
      <Cards
        open={open}
        closed={closed}
        isUnfolded={isUnfolded || Boolean(q)}
        onFold={() => setUnfolded(!isUnfolded)}
        showsHosts={areOnSeveralHosts(plates)}
      />
    </div>
  )
}

interface FilterProps {
  readonly q: string
  readonly setQ: (q: string | null) => void
}

function Filter({ q, setQ }: FilterProps) {
  const field = useRef<HTMLInputElement>(null)
  useShortcut(text.keys.group, KEYS.filter, text.keys.filter, () => field.current?.focus())
  useShortcut(text.keys.group, KEYS.clear, text.keys.clear, () => setQ(null))
  return (
    <search className="board__search">
      <label>
        <span className="hidden">{text.search}</span>
        <input
          ref={field}
          type="search"
          className="input"
          placeholder={text.searchHint}
          value={q}
          onChange={(event) => setQ(event.target.value)}
          onKeyDown={(event) => {
            // Enter keeps the filter and gives the keys back to the list, as in the terminal.
            if (event.key === KEYS.clear) setQ(null)
            if (event.key === KEYS.clear || event.key === KEYS.open) event.currentTarget.blur()
          }}
        />
      </label>
    </search>
  )
}

interface SortProps {
  readonly order: Order
  readonly setOrder: (order: Order) => void
}

function Sort({ order, setOrder }: SortProps) {
  useShortcut(text.keys.group, KEYS.sort, text.keys.sort, () => setOrder(nextOrder(order)))
  return (
    <label className="board__sort">
      <span className="quiet">{text.sort}</span>
      <select
        className="input"
        value={order}
        onChange={(event) => setOrder(orderOf(event.target.value))}
      >
        {ORDERS.map((one) => (
          <option key={one} value={one}>
            {text.orders[one]}
          </option>
        ))}
      </select>
    </label>
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
  return (
    <p className="notice" role="status">
      <strong>{text.catchingUp}</strong> {text.reports(data.hooks)} <Ago moment={data.oldestAt} />.
    </p>
  )
}

function summary(plates: ReadonlyArray<Plate>, needy: number): string {
  if (plates.length === 0) return text.intro
  return text.summary(plates.filter((plate) => plate.status !== 'closed').length, needy)
}

function NoPlates() {
  const { empty } = text
  return (
    <Empty title={empty.title}>
      <p>{empty.what}</p>
      <p>{empty.install}</p>
      <pre className="notice">{empty.installCommand}</pre>
      <p className="quiet">
        {empty.next} <code>{empty.checkCommand}</code> {empty.check}{' '}
        <code>{empty.demoCommand}</code> {empty.demo}
      </p>
    </Empty>
  )
}
