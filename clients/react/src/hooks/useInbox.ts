import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { isOpen } from '../client/interactions.js'
import type {
  AnswerRequest,
  AssignRequest,
  ClaimRequest,
  CompleteRequest,
  Interaction,
  InteractionsPage,
} from '../client/wire.js'
import type { ConnectionStatus } from '../feeds/feed.js'
import { keys } from '../primitives/keys.js'
import { retry } from '../primitives/queries.js'
import { useBoardSubscription } from '../primitives/subscription.js'
import { useWorkflowClient } from '../WorkflowClientProvider.js'

/** Every question that needs a person. */
export interface UseInboxResult {
  /** Those with a deadline first, the next one leading; then the oldest. */
  readonly interactions: ReadonlyArray<Interaction>
  /** Those whose answer was accepted, and not confirmed yet by the agent that asked. */
  readonly unconfirmed: ReadonlyArray<Interaction>
  /** Whether more wait than are listed: the 1000 oldest are. */
  readonly hasMore: boolean
  readonly status: ConnectionStatus
  readonly isLoading: boolean
  readonly error: Error | null
  /** Ask the server again. */
  readonly refetch: () => void
  /**
   * Answer one. Rejects with `AlreadyAnswered` when it was answered before. `receipt` says what
   * became of the answer: while it is `pending`, the agent that asked has not confirmed it, and
   * `useInteraction(id)` gives it as soon as it is known.
   */
  readonly answer: (id: string, answer: AnswerRequest) => Promise<Interaction>
  /**
   * Assign one to yourself, or to the person or group in `to`; null removes the assignment. Who
   * may answer stays the same. Rejects with `ValidationError` for people who may not.
   */
  readonly assign: (id: string, request?: AssignRequest) => Promise<Interaction>
  /** Lock one for a while. Rejects with `Claimed` while another program holds it. */
  readonly claim: (id: string, claim: ClaimRequest) => Promise<Interaction>
  /** End an interactive session. Rejects with `ValidationError` when the response does not fit. */
  readonly complete: (id: string, end: CompleteRequest) => Promise<Interaction>
  /** Take one back. */
  readonly cancel: (id: string) => Promise<Interaction>
  readonly isAnswering: boolean
}

const NONE: ReadonlyArray<Interaction> = []

/** The inbox, kept current. */
export function useInbox(): UseInboxResult {
  const client = useWorkflowClient()
  const feed = useBoardSubscription()
  const { data, isLoading, error, refetch } = useQuery({
    queryKey: keys.inbox,
    queryFn: ({ signal }) => client.pageInteractions({ status: 'pending' }, null, signal),
    retry,
  })
  const sorted = useMemo(() => (data ? [...data.interactions].sort(byUrgency) : NONE), [data])
  return {
    interactions: useMemo(() => sorted.filter(isOpen), [sorted]),
    unconfirmed: useMemo(
      () => sorted.filter((one) => one.status === 'pending' && !isOpen(one)),
      [sorted],
    ),
    hasMore: Boolean(data?.nextCursor),
    status: feed.status,
    isLoading,
    error: error ?? feed.error,
    refetch: useCallback(() => void refetch(), [refetch]),
    ...useInboxActions(),
  }
}

/** What people do with questions. */
export function useInboxActions() {
  const client = useWorkflowClient()
  const cache = useQueryClient()
  // Also after an error: it was answered before, and the list is old.
  const onSettled = () => void cache.invalidateQueries({ queryKey: keys.inbox })
  // The server may have said more since it sent this answer, so it is asked again at once.
  const onAnswered = (now: Interaction | undefined, _: unknown, { id }: { id: string }) => {
    if (now) put(cache, now)
    void cache.invalidateQueries({ queryKey: [...keys.interaction, id] })
    onSettled()
  }
  const answering = useMutation({
    mutationFn: ({ id, answer }: { id: string; answer: AnswerRequest }) =>
      client.answer(id, answer),
    onSettled: onAnswered,
  })
  const completing = useMutation({
    mutationFn: ({ id, end }: { id: string; end: CompleteRequest }) => client.complete(id, end),
    onSettled: onAnswered,
  })
  const claiming = useMutation({
    mutationFn: ({ id, claim }: { id: string; claim: ClaimRequest }) => client.claim(id, claim),
    onSettled,
  })
  const assigning = useMutation({
    mutationFn: ({ id, request }: { id: string; request: AssignRequest | undefined }) =>
      client.assign(id, request),
    onSettled: onAnswered,
  })
  const cancelling = useMutation({
    mutationFn: (id: string) => client.cancelInteraction(id),
    onSettled,
  })
  const { mutateAsync: doAnswer } = answering
  const { mutateAsync: doComplete } = completing
  const { mutateAsync: doClaim } = claiming
  const { mutateAsync: doAssign } = assigning
  const { mutateAsync: doCancel } = cancelling
  return {
    answer: useCallback(
      (id: string, answer: AnswerRequest) => doAnswer({ id, answer }),
      [doAnswer],
    ),
    complete: useCallback(
      (id: string, end: CompleteRequest) => doComplete({ id, end }),
      [doComplete],
    ),
    claim: useCallback((id: string, claim: ClaimRequest) => doClaim({ id, claim }), [doClaim]),
    assign: useCallback(
      (id: string, request?: AssignRequest) => doAssign({ id, request }),
      [doAssign],
    ),
    cancel: useCallback((id: string) => doCancel(id), [doCancel]),
    isAnswering: answering.isPending || completing.isPending,
  }
}

/** Show a question as it is now, wherever it is shown. */
function put(cache: QueryClient, now: Interaction): void {
  cache.setQueryData([...keys.interaction, now.id], now)
  cache.setQueryData<InteractionsPage>(
    keys.inbox,
    (page) =>
      page && {
        ...page,
        interactions: page.interactions.map((one) => (one.id === now.id ? now : one)),
      },
  )
}

function byUrgency(a: Interaction, b: Interaction): number {
  return order(a).localeCompare(order(b))
}

/** Moments are written so that they sort as text. */
function order({ deadline, createdAt }: Interaction): string {
  return `${deadline ? `0${deadline}` : '1'} ${createdAt}`
}
