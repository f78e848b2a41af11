import type { SerializedEvent, Session } from '../server/types'

/** The phase in which a session failed, if in any. */
export function failedPhase({ error, phase }: Pick<Session, 'error' | 'phase'>): string | null {
  return error?.phase ?? phase
}

/** The position just before the failed phase was last entered; the end, if that is not known. */
export function failedAt(events: ReadonlyArray<SerializedEvent>, phase: string | null): number {
  const entered = events.findLast(
    (event) => event.name === 'phase:entered' && event.payload.phase === phase,
  )
  return entered && entered.position > 1 ? entered.position - 1 : (events.at(-1)?.position ?? 1)
}

/** The traceback that an error came with, if it did. */
export function tracebackOf(error: object): string | null {
  const { traceback } = error as { readonly traceback?: unknown }
  return typeof traceback === 'string' && traceback.trim() !== '' ? traceback : null
}
