import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type {
  AnswerRequest,
  Interaction,
  MessageRequest,
  Plate,
  PlateChange,
  PlateMessage,
} from '../client/wire.js'
import type { ConnectionStatus } from '../feeds/feed.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import { useInboxActions } from './useInbox.js'

/** The coding agents' sessions that the server knows of. */
export interface UseBoardResult {
  /** Those that want a person first, the longest waiting leading; the closed ones last. */
  readonly plates: ReadonlyArray<Plate>
  /** Those of them that want a person. */
  readonly needy: ReadonlyArray<Plate>
  readonly status: ConnectionStatus
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
  /** Answer what a plate asks: its `interactionId`; as `useInbox().answer` does. */
  readonly answer: (interactionId: string, answer: AnswerRequest) => Promise<Interaction>
  /** Give it a name; an empty one takes the name away. */
  readonly rename: (plateId: string, name: string) => Promise<Plate>
  readonly pin: (plateId: string, pinned: boolean) => Promise<Plate>
  readonly markSeen: (plateId: string, seen?: boolean) => Promise<Plate>
  /** Take it off the board; a session that starts on it brings it back. */
  readonly dismiss: (plateId: string) => Promise<void>
  /** Write to it: `now`, at its next opportunity, by default. Needs `operate`. */
  readonly say: (
    plateId: string,
    text: string,
    when?: MessageRequest['when'],
  ) => Promise<PlateMessage>
}

const NONE: ReadonlyArray<Plate> = []

/** The board of coding agents' sessions, kept current. */
export function useBoard(): UseBoardResult {
  const client = useWorkflowClient()
  const feed = useBoardSubscription()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: keys.board,
    queryFn: ({ signal }) => client.listPlates(signal),
    retry,
  })
  const plates = useMemo(() => (data ? [...data].sort(byAttention) : NONE), [data])
  const { answer } = useInboxActions()
  return {
    plates,
    needy: useMemo(() => plates.filter((plate) => plate.attention), [plates]),
    status: feed.status,
    isLoading,
    error: error ?? feed.error,
    refetch: useCallback(() => void refetch(), [refetch]),
    answer,
    ...useBoardActions(),
  }
}

function useBoardActions() {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  // A list that was asked for before the change would show the plate as it was.
  const onMutate = () => cache.cancelQueries({ queryKey: keys.board })
  const onSettled = () => void cache.invalidateQueries({ queryKey: keys.board })
  const put = (change: (plates: ReadonlyArray<Plate>) => ReadonlyArray<Plate>) =>
    cache.setQueryData<ReadonlyArray<Plate>>(keys.board, (known) => known && change(known))
  const { mutateAsync: change } = useMutation({
    mutationFn: ({ id, change }: { id: string; change: PlateChange }) =>
      client.changePlate(id, change),
    onSuccess: (plate) =>
      put((known) => known.map((one) => (one.plateId === plate.plateId ? plate : one))),
    onMutate,
    onSettled,
  })
  const { mutateAsync: dismiss } = useMutation({
    mutationFn: (id: string) => client.dismissPlate(id),
    onSuccess: (_, id) => put((known) => known.filter((one) => one.plateId !== id)),
    onMutate,
    onSettled,
  })
  return {
    rename: useCallback((id: string, name: string) => change({ id, change: { name } }), [change]),
    pin: useCallback((id: string, pinned: boolean) => change({ id, change: { pinned } }), [change]),
    markSeen: useCallback((id: string, seen = true) => change({ id, change: { seen } }), [change]),
    dismiss: useCallback((id: string) => dismiss(id), [dismiss]),
    say: useCallback(
      (id: string, text: string, when: MessageRequest['when'] = 'now') =>
        client.sendMessage(id, { text, when }),
      [client],
    ),
  }
}

function byAttention(a: Plate, b: Plate): number {
  const placed = place(a) - place(b)
  if (placed !== 0) return placed
  // Who waits is sorted by how long, who is gone by how lately; and who works by when it started,
  // so that no line jumps about.
  if (a.attention) return a.updatedAt.localeCompare(b.updatedAt)
  if (a.status === 'closed') return b.updatedAt.localeCompare(a.updatedAt)
  return a.createdAt.localeCompare(b.createdAt)
}

/** Who is wanted at once, who has something to tell, who works, who rests, and who is gone. */
function place({ status, attention, waitingFor, pinned }: Plate): number {
  if (status === 'closed') return 6
  if (attention) return waitingFor !== null ? 0 : status === 'error' ? 1 : 2
  if (pinned) return 3
  return status === 'idle' ? 5 : 4
}
