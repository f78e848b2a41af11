import { isBranch } from '../parts/json'
import { visible } from '../parts/visible'
import { text as words } from './text'

const LONGEST = 300

/** A decision on one line. */
export function wordsFor(decision: unknown): string {
  if (decision === 'approved') return words.approved
  if (decision === 'rejected') return words.rejected
  if (typeof decision === 'string') return `“${shortened(visible(decision))}”`
  if (decision === null || decision === undefined) return words.done
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
