import type { SerializedEvent } from '../server/types'

/** One visit of a phase. */
export interface Visit {
  readonly phase: string
  readonly visit: number
  readonly from: number
  readonly to: number
  readonly startedAt: string
  readonly endedAt: string
}

/** What the scrubber shows as one segment: a visit, or several where there is no room for each. */
export interface Segment {
  readonly phases: ReadonlyArray<string>
  /** How often these phases follow each other. */
  readonly times: number
  /** How many visits it stands for. */
  readonly visits: number
  /** Which visit of its phase it is, if it is one. */
  readonly visit: number | null
  readonly from: number
  readonly to: number
  readonly startedAt: string
  readonly endedAt: string
}

/** What the strip above the scrubber shows. */
export interface Cues {
  readonly segments: ReadonlyArray<Segment>
  /** Where people were asked. */
  readonly questions: ReadonlyArray<number>
  /** Where the fork started, in a session that is one. */
  readonly fork: number | null
}

/** The cues of a session, from its first event to its last. */
export function cuesOf(events: ReadonlyArray<SerializedEvent>): Cues {
  const visits: Visit[] = []
  const questions: number[] = []
  let fork: number | null = null
  let open: Omit<Visit, 'to' | 'endedAt'> | null = null
  const end = (to: number, endedAt: string) => {
    if (open) visits.push({ ...open, to, endedAt })
    open = null
  }
  for (const { name, payload, position, timestamp } of events) {
    if (name === 'phase:entered') {
      end(position - 1, timestamp)
      const { phase, visit } = payload
      open = {
        phase: String(phase),
        visit: Number(visit) || 1,
        from: position,
        startedAt: timestamp,
      }
    } else if (name === 'phase:exited') end(position, timestamp)
    else if (name === 'input:requested') questions.push(position)
    else if (name === 'session:forked') fork = position
  }
  const last = events.at(-1)
  if (last) end(last.position, last.timestamp)
  return {
    segments: segmentsOf(visits),
    questions: thinned(questions, last?.position ?? 0),
    fork,
  }
}

/** More than these are too thin to be told apart. */
const MOST = 60
/** The longest round of phases that counts as a loop. */
const LONGEST_ROUND = 8

/** A segment for each visit; where they are too many, rounds of a loop become one. */
export function segmentsOf(visits: ReadonlyArray<Visit>, most = MOST): ReadonlyArray<Segment> {
  const single = visits.map((visit) => segment([visit], [visit.phase], 1))
  if (single.length <= most) return single
  const rounds = inRounds(visits)
  return rounds.length <= most ? rounds : inSlices(rounds, most)
}

function segment(
  visits: ReadonlyArray<Visit>,
  phases: ReadonlyArray<string>,
  times: number,
): Segment {
  const [first, last] = [visits[0] as Visit, visits.at(-1) as Visit]
  return {
    phases,
    times,
    visits: visits.length,
    visit: visits.length === 1 ? first.visit : null,
    from: first.from,
    to: last.to,
    startedAt: first.startedAt,
    endedAt: last.endedAt,
  }
}

/** Phases that follow each other in the same order again and again, as one segment. */
function inRounds(visits: ReadonlyArray<Visit>): Segment[] {
  const found: Segment[] = []
  for (let at = 0; at < visits.length; ) {
    const { length, times } = roundAt(visits, at)
    const all = visits.slice(at, at + length * times)
    const phases = all.slice(0, length).map(({ phase }) => phase)
    found.push(segment(all, phases, times))
    at += all.length
  }
  return found
}

interface Round {
  readonly length: number
  readonly times: number
}

function roundAt(visits: ReadonlyArray<Visit>, at: number): Round {
  let best: Round = { length: 1, times: 1 }
  for (let length = 1; length <= LONGEST_ROUND; length += 1) {
    let end = at + length
    while (end < visits.length && visits[end]?.phase === visits[end - length]?.phase) end += 1
    const times = Math.floor((Math.min(end, visits.length) - at) / length)
    if (times > 1 && times * length > best.times * best.length) best = { length, times }
  }
  return best
}

/** Neighbours joined, so that no more than `most` are left. */
function inSlices(segments: ReadonlyArray<Segment>, most: number): Segment[] {
  const size = Math.ceil(segments.length / most)
  const found: Segment[] = []
  for (let at = 0; at < segments.length; at += size) {
    const slice = segments.slice(at, at + size)
    const [first, last] = [slice[0] as Segment, slice.at(-1) as Segment]
    if (slice.length === 1) found.push(first)
    else
      found.push({
        phases: [...new Set(slice.flatMap(({ phases }) => phases))],
        times: 1,
        visits: slice.reduce((sum, { visits }) => sum + visits, 0),
        visit: null,
        from: first.from,
        to: last.to,
        startedAt: first.startedAt,
        endedAt: last.endedAt,
      })
  }
  return found
}

const MARKS = 200

/** One mark where many would lie on each other. */
function thinned(positions: ReadonlyArray<number>, end: number): ReadonlyArray<number> {
  if (positions.length <= MARKS) return positions
  const slot = (position: number) => Math.floor((position / end) * MARKS)
  return positions.filter((one, at) => at === 0 || slot(one) !== slot(positions[at - 1] as number))
}
