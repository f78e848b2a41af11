import { useCallback, useMemo, useSyncExternalStore } from 'react'
import { withUsage } from '../client/conversation.js'
import type { ConversationItem } from '../client/wire.js'
import {
  ConversationFeed,
  type ConversationOptions,
  UNREAD_CONVERSATION,
} from '../feeds/conversationFeed.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

export type UseConversationOptions = ConversationOptions

/** A stretch of a coding agent's conversation. */
export interface UseConversationResult {
  /** In order, without gaps; a tool's result is with its call. */
  readonly items: ReadonlyArray<ConversationItem>
  readonly isLoading: boolean
  /** A passing one goes when the server is back. */
  readonly error: Error | null
  readonly hasPreviousPage: boolean
  readonly fetchPreviousPage: () => void
  readonly isFetchingPreviousPage: boolean
  /** Only after `jump`: else the end is there, and what follows comes by itself. */
  readonly hasNextPage: boolean
  readonly fetchNextPage: () => void
  readonly isFetchingNextPage: boolean
  /** Show the part that ends at a cursor; null: the end of the conversation. */
  readonly jump: (cursor: string | null) => void
  /** The cursor behind an item, for `getConversationItem` and links. */
  readonly cursorOf: (itemId: string) => string | null
  /** Ask the server again. */
  readonly refetch: () => void
}

const NONE: ReadonlyArray<ConversationItem> = []
const IDLE = () => () => {}

/** A coding agent's conversation from its end backwards, kept current. Needs `operate`. */
export function useConversation(
  plateId: string | null,
  { subagent, live, at }: UseConversationOptions = {},
): UseConversationResult {
  const client = useWorkflowClient()
  // `at` is where it starts; to go elsewhere later, there is `jump`.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const feed = useMemo(
    () => (plateId ? new ConversationFeed(client, plateId, { subagent, live, at }) : null),
    [client, plateId, subagent, live],
  )
  const snapshot = () => feed?.state ?? UNREAD_CONVERSATION
  const state = useSyncExternalStore(feed?.subscribe ?? IDLE, snapshot, snapshot)
  const { part, isAtEnd } = state
  const known = part?.items ?? NONE
  const items = useMemo(() => withUsage(known), [known])
  return {
    items,
    isLoading: state.isLoading && plateId !== null,
    error: state.error,
    hasPreviousPage: part !== null && part.before !== null,
    fetchPreviousPage: useCallback(() => feed?.fetchPreviousPage(), [feed]),
    isFetchingPreviousPage: state.isFetchingPreviousPage,
    hasNextPage: part !== null && !isAtEnd,
    fetchNextPage: useCallback(() => feed?.fetchNextPage(), [feed]),
    isFetchingNextPage: state.isFetchingNextPage,
    jump: useCallback((cursor: string | null) => feed?.jump(cursor), [feed]),
    cursorOf: useCallback((id: string) => feed?.state.part?.cursors.get(id) ?? null, [feed]),
    refetch: useCallback(() => feed?.refetch(), [feed]),
  }
}
