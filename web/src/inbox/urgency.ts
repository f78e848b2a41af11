import type { Interaction } from '../server/types'

/**
 * What to answer first: what runs out soonest, then what waits longest. A question without a
 * deadline comes after every one that has less than an hour left, and among the rest by age.
 */
export function byUrgency(questions: ReadonlyArray<Interaction>, now: number): Interaction[] {
  return [...questions].sort((a, b) => {
    const [left, right] = [isPressing(a, now), isPressing(b, now)]
    if (left !== right) return left ? -1 : 1
    return left ? due(a) - due(b) : Date.parse(a.createdAt) - Date.parse(b.createdAt)
  })
}

const AN_HOUR = 3_600_000

/** Whether its deadline comes within the hour. */
export function isPressing(question: Interaction, now: number): boolean {
  return due(question) - now < AN_HOUR
}

function due(question: Interaction): number {
  return question.deadline ? Date.parse(question.deadline) : Number.POSITIVE_INFINITY
}

/** Who sees to it just now; no one, once the time of the claim is over. */
export function holder(question: Interaction, now: number): string | null {
  if (!question.claimedBy || !question.claimedUntil) return null
  return Date.parse(question.claimedUntil) > now ? question.claimedBy : null
}
