import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import type {
  MessageChange,
  MessageRequest,
  PlateInterrupted,
  PlateMessage,
  Reach,
} from '../client/wire.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'
import { useBoard } from './useBoard.js'

/** The messages to a coding agent. */
export interface UseMessagesResult {
  /** Past ones, then those that wait, in their order; each with what became of it. */
  readonly messages: ReadonlyArray<PlateMessage>
  /** How the agent can be reached now; null until that is known. */
  readonly reach: Reach | null
  readonly isLoading: boolean
  readonly error: Error | null
  /** Write one: `now`, at its next opportunity, by default. */
  readonly say: (text: string, when?: MessageRequest['when']) => Promise<PlateMessage>
  /** Change or move one that is queued. */
  readonly change: (messageId: string, change: MessageChange) => Promise<PlateMessage>
  /** Take back one that is queued. */
  readonly withdraw: (messageId: string) => Promise<PlateMessage>
  /** Stop the agent's turn. */
  readonly interrupt: () => Promise<PlateInterrupted>
}

const NONE: ReadonlyArray<PlateMessage> = []
// What a client says about itself, such as a dialog that was closed, comes with no event.
const EVERY_MS = 10_000

/** The messages to a coding agent and their receipts, kept current. Needs `operate`. */
export function useMessages(plateId: string): UseMessagesResult {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  const feed = useBoardSubscription()
  const { plates } = useBoard()
  const status = plates.find((one) => one.plateId === plateId)?.status
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: [...keys.messages, plateId],
    queryFn: ({ signal }) => client.getMessages(plateId, signal),
    refetchInterval: EVERY_MS,
    retry,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: how it can be reached depends on it
  useEffect(() => void refetch(), [status, refetch])
  const onSettled = () => cache.invalidateQueries({ queryKey: [...keys.messages, plateId] })
  const { mutateAsync: send } = useMutation({
    mutationFn: (told: MessageRequest) => client.sendMessage(plateId, told),
    onSettled,
  })
  const { mutateAsync: edit } = useMutation({
    mutationFn: ({ id, change }: { id: string; change: MessageChange }) =>
      client.changeMessage(plateId, id, change),
    onSettled,
  })
  const { mutateAsync: withdraw } = useMutation({
    mutationFn: (id: string) => client.withdrawMessage(plateId, id),
    onSettled,
  })
  return {
    messages: data?.messages ?? NONE,
    reach: data?.reach ?? null,
    isLoading,
    error: error ?? feed.error,
    say: useCallback((text, when = 'now') => send({ text, when }), [send]),
    change: useCallback((id: string, change: MessageChange) => edit({ id, change }), [edit]),
    withdraw: useCallback((id: string) => withdraw(id), [withdraw]),
    interrupt: useCallback(() => client.interruptPlate(plateId), [client, plateId]),
  }
}
