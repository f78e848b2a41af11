import type { Interaction } from './wire.js'

/** Whether a question still takes an answer: one that was accepted does not. */
export function isOpen({ status, accepted }: Pick<Interaction, 'status' | 'accepted'>): boolean {
  return status === 'pending' && (accepted ?? null) === null
}
