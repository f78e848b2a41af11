import type { SerializedEvent, Session } from '../server/types'

/** A point of a session from which a fork has something to do. */
export interface EarlierPoint {
  readonly position: number
  readonly phase: string
}

/** What agents and people did: a fork from before it does it again. */
const WORK: ReadonlySet<string> = new Set(['agent:started', 'input:requested'])

/** Whether a fork of this session at this position would run nothing, because it had completed. */
export function isOver(
  { status }: Pick<Session, 'status'>,
  events: ReadonlyArray<SerializedEvent>,
  position: number,
): boolean {
  if (status !== 'completed') return false
  const completed = events.findLast(({ name }) => name === 'workflow:completed')
  return completed !== undefined && position >= completed.position
}

/** The position just before the last phase in which an agent or a person did something. */
export function lastWork(events: ReadonlyArray<SerializedEvent>): EarlierPoint | null {
  const work = events.findLast(({ name }) => WORK.has(name))
  const entered = events.findLast(
    ({ name, position }) => name === 'phase:entered' && position < (work?.position ?? 0),
  )
  const phase = entered?.payload.phase
  if (!entered || entered.position < 2 || typeof phase !== 'string') return null
  return { position: entered.position - 1, phase }
}
