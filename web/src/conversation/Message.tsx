import { type ConversationItem, useWorkflowClient } from '@callboard/react'
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { memo, type ReactNode, useState } from 'react'
import { copyAndSay, copyText } from '../parts/clipboard'
import { ChevronIcon, CopyIcon, LinkIcon } from '../parts/icons'
import { say } from '../parts/Toasts'
import { clock, whole } from '../parts/times'
import { firstLine } from '../parts/visible'
import { PromptText } from '../prompts/PromptText'
import { Passage } from '../reading/Passage'
import { useFold } from './folds'
import { Images } from './Images'
import { usePlace } from './place'
import { ToolCallRow } from './ToolCallRow'
import { text } from './text'
import { copiedOf, linkTo, usageOf } from './words'

interface Props {
  readonly item: ConversationItem
  /** Its place among all that are loaded, from 1. */
  readonly position: number
  readonly isLinked: boolean
}

/** One step of a conversation. */
export const Message = memo(function Message({ item: known, position, isLinked }: Props) {
  const [item, whole] = useWhole(known)
  return (
    <article
      className={`message message--${item.kind} by-${item.author} ${isLinked ? 'is-linked' : ''}`}
      aria-label={labelOf(item)}
      aria-posinset={position}
      aria-setsize={-1}
      tabIndex={-1}
    >
      <Content item={item} />
      <Images images={item.images} />
      {item.cut && (
        <p className="message__cut">
          <button type="button" className="button" onClick={whole.load} disabled={whole.isLoading}>
            {whole.isLoading ? text.loadingAll : text.showAll}
          </button>
          {whole.error && <span className="quiet">{whole.error.message}</span>}
        </p>
      )}
      <Actions item={item} read={whole.read} />
    </article>
  )
})

/** All of an item, once that is asked for: a page has only the start of long texts. */
function useWhole(item: ConversationItem) {
  const client = useWorkflowClient()
  const { plateId, subagent, cursorOf } = usePlace()
  const queries = useQueryClient()
  const [isWanted, setWanted] = useState(false)
  const query = queryOptions({
    queryKey: ['conversation-item', plateId, subagent ?? '', item.id],
    queryFn: ({ signal }) =>
      client.getConversationItem(
        plateId,
        item.id,
        { cursor: cursorOf(item.id) ?? '', subagent },
        signal,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data, isLoading, error } = useQuery({ ...query, enabled: isWanted && item.cut })
  const load = () => setWanted(true)
  const read = () => (item.cut ? queries.fetchQuery(query) : Promise.resolve(item))
  return [data ?? item, { load, read, isLoading: isWanted && isLoading, error }] as const
}

function labelOf({ kind, tool }: ConversationItem): string {
  if (kind === 'tool' && tool?.name) return `${text.kinds.tool}: ${firstLine(tool.name)}`
  return text.kinds[kind]
}

function Content({ item }: Pick<Props, 'item'>) {
  switch (item.kind) {
    case 'prompt':
      return (
        <>
          <p className="message__author">{text.authors[item.author]}</p>
          <PromptText text={item.text} level={3} />
        </>
      )
    case 'reply':
      return <PromptText text={item.text} level={3} folds={false} />
    case 'thinking':
      return (
        <Folded id={item.id} title={text.kinds.thinking} brief={firstLine(item.text)}>
          <PromptText text={item.text} level={3} folds={false} />
        </Folded>
      )
    case 'tool':
      return <ToolCallRow item={item} />
    case 'compaction':
      return <Compaction item={item} />
    case 'notice':
      return <Passage bare text={item.text} />
    case 'usage':
      return null
  }
}

/** Shorter texts only say once more that it was compacted. */
const A_LABEL = 60

function Compaction({ item }: Pick<Props, 'item'>) {
  return (
    <>
      <p className="message__rule">{text.kinds.compaction}</p>
      {item.text.length > A_LABEL && (
        <Folded id={item.id} title={text.compactedFolded} brief={firstLine(item.text)}>
          <PromptText text={item.text} level={3} folds={false} />
        </Folded>
      )}
    </>
  )
}

interface FoldedProps {
  readonly id: string
  readonly title: string
  readonly brief: string
  readonly children: ReactNode
}

/** What is one line until it is opened. */
function Folded({ id, title, brief, children }: FoldedProps) {
  const [isOpen, toggle] = useFold(id)
  return (
    <>
      <button type="button" className="message__fold" aria-expanded={isOpen} onClick={toggle}>
        <ChevronIcon />
        <span className="message__name">{title}</span>
        {!isOpen && <span className="message__brief">{brief}</span>}
      </button>
      {isOpen && <div className="message__inside">{children}</div>}
    </>
  )
}

interface ActionsProps extends Pick<Props, 'item'> {
  /** Gets all of the item. */
  readonly read: () => Promise<ConversationItem>
}

function Actions({ item, read }: ActionsProps) {
  const { cursorOf, subagent } = usePlace()
  const { at, usage } = item
  const link = async () => {
    const address = linkTo(item.id, cursorOf(item.id))
    if (await copyText(address)) say(text.linked)
    else void copyAndSay(address)
  }
  const copy = async () => {
    const all = await read().catch(() => null)
    if (all) await copyAndSay(copiedOf(all))
    else if (await copyText(copiedOf(item))) say(text.copiedStart)
  }
  const used = usage ? usageOf(usage) : ''
  return (
    <footer className="message__foot">
      <span className="message__actions">
        <button type="button" aria-label={text.copy} title={text.copy} onClick={() => void copy()}>
          <CopyIcon />
        </button>
        {subagent === undefined && (
          <button
            type="button"
            aria-label={text.link}
            title={text.link}
            onClick={() => void link()}
          >
            <LinkIcon />
          </button>
        )}
      </span>
      {used && <span className="message__usage">{used}</span>}
      {at && (
        <time dateTime={at} title={whole(at)}>
          {clock(at)}
        </time>
      )}
    </footer>
  )
}
