import { type FoundItem, useWorkflowClient } from '@callboard/react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { Problem } from '../parts/Problem'
import { clock } from '../parts/times'
import { useSettled } from '../parts/useSettled'
import { visible } from '../parts/visible'
import { KEYS } from '../shell/keys'
import { useShortcut } from '../shell/shortcuts'
import { text } from './text'

const words = text.search

interface Props {
  readonly plateId: string
  readonly onFound: (item: FoundItem) => void
}

/** Searches the whole conversation on the server, the newest messages first. */
export function Finder({ plateId, onFound }: Props) {
  const [sought, setSought] = useState('')
  const [isOpen, setOpen] = useState(false)
  const settled = useSettled(sought.trim())
  const field = useRef<HTMLInputElement>(null)
  useShortcut(text.keys.group, KEYS.filter, text.keys.search, () => field.current?.focus())
  return (
    <search className="finder">
      <input
        ref={field}
        type="search"
        className="input"
        aria-label={words.label}
        placeholder={words.hint}
        value={sought}
        onChange={(event) => {
          setSought(event.target.value)
          setOpen(true)
        }}
        onFocus={() => setOpen(true)}
        onKeyDown={(event) => {
          if (event.key !== KEYS.clear) return
          setSought('')
          event.currentTarget.blur()
        }}
      />
      {settled && isOpen && (
        <Matches
          key={settled}
          plateId={plateId}
          sought={settled}
          onFound={(item) => {
            setOpen(false)
            onFound(item)
          }}
        />
      )}
    </search>
  )
}

function Matches({ plateId, sought, onFound }: Props & { readonly sought: string }) {
  const client = useWorkflowClient()
  const id = useId()
  const { data, error, isLoading, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['conversation-search', plateId, sought],
      queryFn: ({ pageParam, signal }) =>
        client.searchConversation(plateId, sought, { before: pageParam }, signal),
      initialPageParam: null as string | null,
      getNextPageParam: (page) => page.before,
    })
  const found = data?.pages.flatMap((page) => page.found) ?? []
  const told = isLoading ? words.searching : summary(found.length, hasNextPage)
  return (
    <section className="finder__results panel" aria-labelledby={id}>
      <p className="quiet" role="status" id={id}>
        {told}
      </p>
      {error && <Problem error={error} onRetry={refetch} />}
      <ul>
        {found.map((one) => (
          <li key={one.id}>
            <button type="button" className="finder__match" onClick={() => onFound(one)}>
              <span className="finder__kind">{text.kinds[one.kind]}</span>
              <span className="finder__excerpt">
                <Marked text={visible(one.excerpt)} sought={visible(sought)} />
              </span>
              {one.at && <time dateTime={one.at}>{clock(one.at)}</time>}
            </button>
          </li>
        ))}
      </ul>
      {hasNextPage && (
        <button
          type="button"
          className="button"
          disabled={isFetchingNextPage}
          onClick={() => void fetchNextPage()}
        >
          {isFetchingNextPage ? words.searching : words.more}
        </button>
      )}
    </section>
  )
}

function summary(count: number, hasMore: boolean): string {
  return count === 0 && !hasMore ? words.none : words.found(count, hasMore)
}

/** A text with what was searched for marked. */
function Marked({ text: whole, sought }: { readonly text: string; readonly sought: string }) {
  const at = whole.toLowerCase().indexOf(sought.toLowerCase())
  if (at < 0) return whole
  return (
    <>
      {whole.slice(0, at)}
      <mark>{whole.slice(at, at + sought.length)}</mark>
      {whole.slice(at + sought.length)}
    </>
  )
}
