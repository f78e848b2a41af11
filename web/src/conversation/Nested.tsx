import { useConversation } from '@callboard/react'
import { useMemo } from 'react'
import { Problem } from '../parts/Problem'
import { Message } from './Message'
import { PlaceContext, usePlace } from './place'
import { text } from './text'

interface Props {
  readonly subagent: string
  readonly isRunning: boolean
}

/** The conversation of a subagent, in its place. */
export function Nested({ subagent, isRunning }: Props) {
  const { plateId, folder } = usePlace()
  const told = useConversation(plateId, { subagent, live: isRunning })
  const { items, isLoading, error, hasPreviousPage, cursorOf, refetch } = told
  const place = useMemo(
    () => ({ plateId, subagent, folder, cursorOf }),
    [plateId, subagent, folder, cursorOf],
  )
  return (
    <PlaceContext value={place}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <figure className="nested" aria-label={text.tool.subagent} tabIndex={0}>
        {error && <Problem error={error} onRetry={refetch} />}
        {isLoading && <p className="quiet">{text.loading}</p>}
        {!isLoading && !error && items.length === 0 && <p className="quiet">{text.empty}</p>}
        {hasPreviousPage && (
          <button
            type="button"
            className="button"
            disabled={told.isFetchingPreviousPage}
            onClick={told.fetchPreviousPage}
          >
            {text.showEarlier}
          </button>
        )}
        {items.map((item, index) => (
          <Message key={item.id} item={item} position={index + 1} isLinked={false} />
        ))}
      </figure>
    </PlaceContext>
  )
}
