import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { Ago } from '../parts/Ago'
import { Status } from '../parts/Status'
import { firstLine, onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Session } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { text } from './text'

interface Props {
  readonly sessions: ReadonlyArray<Session>
  readonly hasNextPage: boolean
  readonly isFetchingNextPage: boolean
  readonly fetchNextPage: () => void
}

const ROW = 60

/** A list of sessions. Only what is seen is drawn, and the next page comes before it is needed. */
export function SessionList({ sessions, hasNextPage, isFetchingNextPage, fetchNextPage }: Props) {
  const list = useRef<HTMLUListElement>(null)
  const [chosen, setChosen] = useState(-1)
  const virtual = useWindowVirtualizer({
    count: sessions.length,
    estimateSize: () => ROW,
    overscan: 10,
    scrollMargin: list.current?.offsetTop ?? 0,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && last >= sessions.length - 20) fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, last, sessions.length, fetchNextPage])
  const move = (step: number) => {
    const next = Math.max(0, Math.min(sessions.length - 1, chosen + step))
    setChosen(next)
    virtual.scrollToIndex(next)
  }
  useShortcut(text.keys.group, 'j', text.keys.next, () => move(1))
  useShortcut(text.keys.group, 'k', text.keys.previous, () => move(-1))
  useShortcut(text.keys.group, 'Enter', text.keys.open, () => {
    const session = sessions[chosen]
    if (session) navigate(to.session(session.sessionId))
  })
  return (
    <ul className="panel sessions" ref={list} style={{ height: virtual.getTotalSize() }}>
      {items.map((item) => {
        const session = sessions[item.index]
        const top = item.start - virtual.options.scrollMargin
        return session ? (
          <li
            key={session.sessionId}
            style={{ height: item.size, transform: `translateY(${top}px)` }}
            aria-setsize={hasNextPage ? -1 : sessions.length}
            aria-posinset={item.index + 1}
          >
            <SessionRow session={session} chosen={item.index === chosen} />
          </li>
        ) : null
      })}
    </ul>
  )
}

function SessionRow({ session, chosen }: { readonly session: Session; readonly chosen: boolean }) {
  const question = session.pending[0]
  return (
    <Link
      to={to.session(session.sessionId)}
      className={`sessions__row ${chosen ? 'is-chosen' : ''}`}
    >
      <Status status={session.status} />
      <span className="sessions__name">
        <strong>{onOneLine(session.title ?? session.workflow)}</strong>
        <span className="quiet">
          {session.title && `${onOneLine(session.workflow)} · `}
          <span className="mono">{session.sessionId}</span>
        </span>
      </span>
      <span className="sessions__what">
        {firstLine(question?.prompt ?? session.error?.message ?? session.held ?? inPhase(session))}
      </span>
      <span className="sessions__when quiet">
        {session.parent && <span className="sessions__fork">{text.row.fork}</span>}
        <Ago moment={session.updatedAt} />
      </span>
    </Link>
  )
}

function inPhase({ phase, position, status }: Session): string {
  const ended = status === 'completed' || status === 'cancelled'
  return ended || !phase ? text.row.events(position) : text.row.phase(phase)
}
