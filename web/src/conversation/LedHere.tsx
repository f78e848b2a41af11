import { useConversation } from '@callboard/react'
import { useMemo, useState } from 'react'
import { ReadFirst } from '../reading/ReadBox'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { useMayOperate } from '../server/useScope'
import { FoldsContext } from './folds'
import { Message } from './Message'
import { PlaceContext } from './place'
import { text } from './text'

interface Props {
  readonly plateId: string
  /** When it was asked. */
  readonly moment: string
  /** The subagent that asks, if one does: what led to it is in its own conversation. */
  readonly subagent?: string | undefined
}

const MOST = 5
const QUIET: ReadonlySet<string> = new Set(['thinking', 'usage'])

/** The last messages before a request, for those who may read them. */
export function LedHere(props: Props) {
  const mayRead = useMayOperate()
  return mayRead ? <Last {...props} /> : null
}

function Last({ plateId, moment, subagent }: Props) {
  const told = useConversation(plateId, { subagent, live: false })
  const { items, isLoading, error, cursorOf } = told
  const [folds] = useState(() => new Map<string, boolean>())
  const place = useMemo(() => ({ plateId, subagent, cursorOf }), [plateId, subagent, cursorOf])
  const shown = items
    .filter((item) => !QUIET.has(item.kind) && (item.at === null || item.at <= moment))
    .slice(-MOST)
  if (error && subagent) return <Last plateId={plateId} moment={moment} />
  // The question stands by itself; where nothing can be read, nothing more is to be said here.
  if (error) return null
  return (
    <section className="ledhere" aria-label={text.ledHere}>
      <h2>{text.ledHere}</h2>
      {isLoading && <p className="quiet">{text.loading}</p>}
      {!isLoading && shown.length === 0 && <p className="quiet">{text.ledHereNone}</p>}
      {/* A question can be allowed without this having been read. */}
      <ReadFirst>
        <PlaceContext value={place}>
          <FoldsContext value={folds}>
            {shown.map((item, index) => (
              <Message key={item.id} item={item} position={index + 1} isLinked={false} />
            ))}
          </FoldsContext>
        </PlaceContext>
      </ReadFirst>
      <p>
        <Link to={to.plate(plateId)}>{text.ledHereMore}</Link>
      </p>
    </section>
  )
}
