import { CallboardError, type FoundItem, useConversation } from '@callboard/react'
import { useEffect, useMemo, useState } from 'react'
import { Composer } from '../messages/Composer'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import { useParameter } from '../router/navigation'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { useMayOperate } from '../server/useScope'
import { Finder } from './Finder'
import { FoldsContext } from './folds'
import { Messages } from './Messages'
import { PlaceContext } from './place'
import { text } from './text'
import { linkedItem } from './words'

interface Props {
  readonly plate: Plate
}

/** A coding agent's conversation and messages to it, for those who may read and write there. */
export function Conversation({ plate }: Props) {
  const mayRead = useMayOperate()
  if (mayRead === null) return <p className="panel__body quiet">{text.loading}</p>
  if (!mayRead) return <p className="notice conversation__needs">{text.needsOperate}</p>
  return (
    <>
      <Read plate={plate} />
      <Composer plate={plate} />
    </>
  )
}

function Read({ plate }: Props) {
  const { plateId, projectPath: folder } = plate
  const [at, setAt] = useParameter('at')
  const [linked, setLinked] = useState(() => linkedItem(window.location.hash))
  const told = useConversation(plateId, { at })
  const { items, isLoading, error, jump, cursorOf, refetch } = told
  const [folds] = useState(() => new Map<string, boolean>())
  const place = useMemo(() => ({ plateId, folder, cursorOf }), [plateId, folder, cursorOf])
  useRetry(error !== null && items.length === 0, plate.updatedAt, refetch)
  const go = ({ id, atCursor }: FoundItem) => {
    setLinked(id)
    if (!items.some((item) => item.id === id)) jump(atCursor)
  }
  const latest = () => {
    setLinked(null)
    if (at !== null) setAt(null)
    if (told.hasNextPage) jump(null)
  }
  const problem = problemOf(error, items.length > 0)
  return (
    <section className="conversation" aria-label={text.title}>
      <Finder plateId={plateId} onFound={go} />
      {problem && <Unread error={problem} onRetry={refetch} />}
      {isLoading && (
        <p className="panel__body quiet" aria-busy="true">
          {text.loading}
        </p>
      )}
      {!isLoading && !problem && items.length === 0 && (
        <p className="panel__body quiet">{text.empty}</p>
      )}
      <PlaceContext value={place}>
        <FoldsContext value={folds}>
          {items.length > 0 && <Messages told={told} linked={linked} onLatest={latest} />}
        </FoldsContext>
      </PlaceContext>
    </section>
  )
}

interface UnreadProps {
  readonly error: Error
  readonly onRetry: () => void
}

/** Why there is nothing to read. Some agents keep no transcript, which isn’t an error. */
function Unread({ error, onRetry }: UnreadProps) {
  if (error instanceof CallboardError && error.code === 'TRANSCRIPT_UNREADABLE') {
    return <p className="panel__body quiet">{visible(error.message)}</p>
  }
  return <Problem error={error} onRetry={onRetry} />
}

/** What could not be read may be there once the agent reports again. */
function useRetry(isMissing: boolean, updatedAt: string, refetch: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: again only after a report
  useEffect(() => {
    if (isMissing) refetch()
  }, [updatedAt])
}
