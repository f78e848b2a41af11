import { useCallback, useEffect, useRef, useState } from 'react'
import { Conflict } from '../client/errors.js'
import type { Interaction } from '../client/wire.js'
import { useAsking } from '../primitives/useAsking.js'
import {
  type AskInteractiveOptions,
  type InteractiveSessionResult,
  questionOf,
  resultOf,
  type Schema,
} from './interactive.js'

/** Where interactive sessions are asked for, and which one is watched. */
export interface UseHumanInteractiveOptions<T = unknown> {
  /** The workflow session that what is asked for belongs to; without it, to none. */
  readonly sessionId?: string | undefined
  /** Watch the one with this id: asked for before the page was reloaded, or by someone else. */
  readonly attachTo?: string | null | undefined
  /** Checks responses, where a request brings no schema of its own. */
  readonly zodSchema?: Schema<T> | undefined
}

/** An interactive session that was asked for. */
export interface UseHumanInteractiveResult<T = unknown> {
  /** Ask, and look at `status` and `data`. Throws while one is pending. */
  readonly request: (prompt: string, options?: AskInteractiveOptions<T>) => void
  /** Ask, and wait for the end. Rejects while one is pending. */
  readonly requestAsync: (
    prompt: string,
    options?: AskInteractiveOptions<T>,
  ) => Promise<InteractiveSessionResult<T>>
  readonly status: 'idle' | 'pending' | 'success' | 'error'
  /** How it ended, when the status is `success`: also when it was cancelled or ran out of time. */
  readonly data: InteractiveSessionResult<T> | null
  /** What went wrong, when the status is `error`. */
  readonly error: Error | null
  /** The id of what was asked for; keep it, and `attachTo` finds it again. */
  readonly sessionId: string | null
  /** Take it back, if it is still open. */
  readonly cancel: () => void
  /** Start over. What is still open is taken back: no one waits for it any more. */
  readonly reset: () => void
}

type Progress<T> = Pick<UseHumanInteractiveResult<T>, 'status' | 'data' | 'error' | 'sessionId'>

/** A request that is under way. */
interface Pending {
  id: string | null
  isWithdrawn: boolean
}

const IDLE = { status: 'idle', data: null, error: null, sessionId: null } as const

/** Ask people for a session with an agent, one at a time. */
export function useHumanInteractive<T = unknown>(
  options: UseHumanInteractiveOptions<T> = {},
): UseHumanInteractiveResult<T> {
  const { sessionId, attachTo, zodSchema } = options
  const asking = useAsking()
  const [progress, setProgress] = useState<Progress<T>>(IDLE)
  // Which request counts. Known at once, where state would only be known after a render.
  const current = useRef<Pending | null>(null)
  const schema = useRef(zodSchema)
  useEffect(() => {
    schema.current = zodSchema
  }, [zodSchema])

  /** Show what becomes of a request, for as long as it is the one that counts. */
  const follow = useCallback(
    async (own: Pending, ended: Promise<Interaction>, wanted: Schema<T> | undefined) => {
      const show = (now: Partial<Progress<T>>) => {
        if (current.current !== own) return
        current.current = null
        setProgress({ ...IDLE, sessionId: own.id, ...now })
      }
      try {
        const data = resultOf<T>(await ended, wanted ?? schema.current)
        show({ status: 'success', data })
        return data
      } catch (error) {
        show({ status: 'error', error: error as Error })
        throw error
      }
    },
    [],
  )

  const start = useCallback((own: Pending) => {
    current.current = own
    setProgress({ ...IDLE, status: 'pending', sessionId: own.id })
  }, [])

  const ask = useCallback(
    (prompt: string, given?: AskInteractiveOptions<T>) => {
      if (current.current) throw alreadyPending()
      const own: Pending = { id: null, isWithdrawn: false }
      start(own)
      const ended = asking.ask(questionOf(prompt, given, sessionId), (id) => {
        own.id = id
        if (current.current === own) start(own)
        if (own.isWithdrawn) void asking.withdraw(id)
      })
      return follow(own, ended, given?.zodSchema)
    },
    [asking, start, follow, sessionId],
  )

  const withdraw = useCallback(() => {
    const own = current.current
    if (!own || own.isWithdrawn) return
    own.isWithdrawn = true
    if (own.id) void asking.withdraw(own.id)
  }, [asking])

  useEffect(() => {
    if (!attachTo || current.current?.id === attachTo) return
    const own: Pending = { id: attachTo, isWithdrawn: false }
    start(own)
    follow(own, asking.watch(attachTo), undefined).catch(seen)
  }, [attachTo, asking, start, follow])

  return {
    request: useCallback((prompt, given) => void ask(prompt, given).catch(seen), [ask]),
    requestAsync: useCallback(async (prompt, given) => ask(prompt, given), [ask]),
    ...progress,
    cancel: withdraw,
    reset: useCallback(() => {
      withdraw()
      current.current = null
      setProgress(IDLE)
    }, [withdraw]),
  }
}

function alreadyPending(): Error {
  const text = 'Cannot create a new interactive session while one is already pending'
  return new Conflict(text, 'INTERACTIVE_PENDING')
}

/** What went wrong stands in `error`. */
function seen(): void {}
