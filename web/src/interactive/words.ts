import { isBranch } from '../parts/json'
import { visible } from '../parts/visible'

const LONGEST = 300

/** A decision on one line. */
export function wordsFor(decision: unknown): string {
  if (decision === 'approved') return 'Approved'
  if (decision === 'rejected') return 'Rejected'
  if (typeof decision === 'string') return `“${shortened(visible(decision))}”`
  if (decision === null || decision === undefined) return 'Decided'
  return isBranch(decision) ? shortened(visible(pairs(decision))) : String(decision)
}

function pairs(decision: object): string {
  if (Array.isArray(decision)) return JSON.stringify(decision)
  return Object.entries(decision)
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
}

function shortened(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text
}
