import { NotFound, useInbox } from '@callboard/react'
import { useMemo, useState } from 'react'
import { Empty } from '../parts/Empty'
import { BackIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { useNow } from '../parts/useNow'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { problemOf } from '../server/queries'
import type { Interaction } from '../server/types'
import { NotificationSwitch } from '../shell/NotificationSwitch'
import { useShortcut } from '../shell/shortcuts'
import { BulkBar } from './BulkBar'
import { fitting, isFiltered, rowsOf } from './filters'
import { QuestionDetail } from './QuestionDetail'
import { QuestionList } from './QuestionList'
import { Toolbar } from './Toolbar'
import { text } from './text'
import { byUrgency } from './urgency'
import { clearFilters, inboxAddress, useFilters } from './useFilters'
import { useFound } from './useFound'
import { useMe } from './useMe'
import { type Selection, useSelection } from './useSelection'
import { Views } from './Views'

/** Every question that waits for a person, the most urgent first. */
export function InboxPage({ question: chosen }: { readonly question: string | null }) {
  const { interactions, hasMore, isLoading, error, refetch } = useInbox()
  const minute = useNow(60_000)
  const me = useMe()
  const filtering = useFilters()
  const known = useFound(interactions, hasMore, filtering.filters)
  const sorted = useMemo(() => byUrgency(known, minute), [known, minute])
  const found = fitting(sorted, filtering.filters, me.names)
  const rows = rowsOf(found, filtering.grouping)
  // In the order of the list, which groups may have changed.
  const listed = rows.flatMap(({ question }) => question ?? [])
  const selection = useSelection(chosen, listed)
  const picking = usePicking(listed)
  const filtered = isFiltered(filtering.filters)
  const problem = problemOf(error, !isLoading && interactions.length > 0)
  const isEmpty = !isLoading && !problem && !selection.id
  return (
    <div className="page" data-chosen={chosen !== null}>
      <header>
        <div>
          <h1>{text.title}</h1>
          <p className="quiet">
            {isLoading ? text.loading : summary(listed.length, interactions.length, hasMore)}
          </p>
          <Oldest count={interactions.length} hasMore={hasMore} />
        </div>
        <NotificationSwitch />
      </header>
      {(sorted.length > 0 || filtered) && (
        <div className="inbox__tools">
          <Views search={filtering.search} />
          <Toolbar questions={sorted} filtering={filtering} />
        </div>
      )}
      {problem && <Problem error={problem} onRetry={refetch} />}
      {isEmpty && (filtered ? <NoMatch /> : <InboxZero />)}
      {picking.questions.length > 0 && (
        <BulkBar questions={picking.questions} onDone={picking.clear} />
      )}
      <Keys selection={selection} onPick={picking.toggle} />
      {selection.id && (
        <div className="inbox">
          <div>
            <QuestionList
              rows={rows}
              count={listed.length}
              chosen={selection.id}
              picked={picking.ids}
              onPick={picking.toggle}
            />
            {listed.length === 0 && (
              <p className="quiet slip">{filtered ? text.none.title : text.noMore}</p>
            )}
          </div>
          <Chosen selection={selection} />
        </div>
      )}
    </div>
  )
}

/** Where the questions are that are not listed. */
function Oldest({ count, hasMore }: { readonly count: number; readonly hasMore: boolean }) {
  return hasMore && <p className="quiet">{text.oldest(count)}</p>
}

interface KeysProps {
  readonly selection: Selection
  readonly onPick: (id: string) => void
}

function Keys({ selection, onPick }: KeysProps) {
  useShortcut(text.shortcuts, 'j', text.nextQuestion, () => selection.move(1))
  useShortcut(text.shortcuts, 'k', text.previousQuestion, () => selection.move(-1))
  useShortcut(text.shortcuts, 'x', text.bulk.toggle, () => {
    if (selection.id) onPick(selection.id)
  })
  return null
}

/** The questions that are selected. Those that are no longer listed are not. */
function usePicking(listed: ReadonlyArray<Interaction>) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) => {
    // A question that no longer fits the filters may still be shown.
    if (!listed.some((one) => one.id === id)) return
    const after = new Set(ids)
    if (!after.delete(id)) after.add(id)
    setIds(after)
  }
  const questions = ids.size === 0 ? [] : listed.filter(({ id }) => ids.has(id))
  return { ids, questions, toggle, clear: () => setIds(new Set()) }
}

function Chosen({ selection }: { readonly selection: Selection }) {
  const { shown, error, hasNext, move, moveOn } = selection
  return (
    <div className="inbox__detail">
      <Link className="button button--plain inbox__back" to={inboxAddress(null)}>
        <BackIcon /> {text.allQuestions}
      </Link>
      {shown && (
        <QuestionDetail
          key={shown.id}
          question={shown}
          onNext={hasNext ? () => move(1) : null}
          onHeld={moveOn}
        />
      )}
      {error && <NotShown error={error} />}
    </div>
  )
}

function NotShown({ error }: { readonly error: Error }) {
  if (!(error instanceof NotFound)) return <Problem error={error} />
  return (
    <Empty title={text.gone.title}>
      <p>{text.gone.why}</p>
    </Empty>
  )
}

function summary(shown: number, count: number, hasMore: boolean): string {
  if (count === 0) return text.caughtUp
  return shown < count ? text.summaryOf(shown, count, hasMore) : text.summary(count, hasMore)
}

function NoMatch() {
  return (
    <Empty title={text.none.title}>
      <p>{text.none.what}</p>
      <button type="button" className="button" onClick={clearFilters}>
        {text.none.clear}
      </button>
    </Empty>
  )
}

function InboxZero() {
  const words = text.zero
  return (
    <Empty title={words.title}>
      <p>{words.what}</p>
      <Link className="button button--lamp" to={`${to.sessions()}?start=1`}>
        {words.start}
      </Link>
      <p>
        {words.connect} <code>{words.command}</code>
      </p>
    </Empty>
  )
}
