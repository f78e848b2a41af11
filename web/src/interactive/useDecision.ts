import { type CompleteRequest, useInbox, ValidationError } from '@callboard/react'
import { Conflict } from '@callboard/react/client'
import { useMutation } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Fault } from '../forms/reading'
import { forget } from '../forms/useKept'
import { say } from '../parts/Toasts'
import { givenName, myName } from '../server/useClaim'
import { text } from './text'

export interface Decided {
  readonly outcome: 'completed' | 'cancelled'
  readonly response?: unknown
  /** Why nothing was decided. */
  readonly error?: string
  /** Who decides, where several have to. */
  readonly by?: string | null
}

/** Under which name what is written for a question is kept. */
export function keptAs(id: string): string {
  return `callboard.decision.${id}`
}

/** End an interactive session. The first end counts; the error says so to the second. */
export function useDecision(id: string) {
  const { complete } = useInbox()
  const startedAt = useRef(Date.now())
  const mutation = useMutation({
    mutationFn: (end: CompleteRequest) => complete(id, end),
    onSuccess: () => forget(keptAs(id)),
    onError: (error) => {
      if (error instanceof Conflict) say(text.notUsed(error.message))
    },
  })
  /** What is sent for a decision. */
  const end = ({ by = givenName(), ...decided }: Decided): CompleteRequest => ({
    ...decided,
    ...(by !== null && { by }),
    durationMs: Math.max(0, Date.now() - startedAt.current),
  })
  return { ...mutation, end }
}

/** Where a server's refusal belongs in the form; null when it is about something else. */
export function faultOf(error: Error | null): Fault | null {
  if (!(error instanceof ValidationError) || error.details.field !== 'response') return null
  const { pointer, reason } = error.details
  return {
    at: typeof pointer === 'string' ? pointer : '',
    message: typeof reason === 'string' ? reason : error.message,
  }
}

const HELD_MS = 60_000
const RENEWED_MS = 20_000

/** Hold a question while someone writes, so that no one opens a session for it meanwhile. */
export function useHolding(id: string, isWriting: boolean): void {
  const { claim } = useInbox()
  useEffect(() => {
    if (!isWriting) return
    // Someone else may have it already; the page says who.
    const hold = () => void claim(id, { by: myName(), ttlMs: HELD_MS }).catch(() => {})
    hold()
    const timer = setInterval(hold, RENEWED_MS)
    return () => clearInterval(timer)
  }, [id, isWriting, claim])
}
