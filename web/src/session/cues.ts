import type { SerializedEvent } from '../server/types'

/** A stretch of the session that was spent in one phase. */
export interface Stretch {
  readonly phase: string
  readonly from: number
  readonly to: number
}

/** What the strip under the scrubber shows. */
export interface Cues {
  readonly stretches: ReadonlyArray<Stretch>
  /** Where people were asked. */
  readonly questions: ReadonlyArray<number>
  /** Where the fork began, for one that is a fork. */
  readonly fork: number | null
}

/** The cues of a session, from its first event to its last. */
export function cuesOf(events: ReadonlyArray<SerializedEvent>): Cues {
  const stretches: Stretch[] = []
  const questions: number[] = []
  let fork: number | null = null
  let open: { phase: string; from: number } | null = null
  const end = (to: number) => {
    if (open) stretches.push({ ...open, to })
    open = null
  }
  for (const { name, payload, position } of events) {
    if (name === 'phase:entered') {
      end(position - 1)
      open = { phase: String(payload.phase), from: position }
    } else if (name === 'phase:exited') end(position)
    else if (name === 'input:requested') questions.push(position)
    else if (name === 'session:forked') fork = position
  }
  end(events.at(-1)?.position ?? 0)
  return { stretches: legible(stretches), questions, fork }
}

/** More than these are too thin to be told apart. */
const LEGIBLE = 60

/** Visits of one phase that follow each other become one, where there is no room for each. */
function legible(stretches: ReadonlyArray<Stretch>): ReadonlyArray<Stretch> {
  if (stretches.length <= LEGIBLE) return stretches
  const joined: Stretch[] = []
  for (const stretch of stretches) {
    const before = joined.at(-1)
    if (before?.phase === stretch.phase) joined[joined.length - 1] = { ...before, to: stretch.to }
    else joined.push(stretch)
  }
  return joined
}
