import type { UsageSum } from '@callboard/react'

const LEAST = 0.001
const EXACT_BELOW = 0.1

/** `$0`, `<$0.001`, `$0.034`, `$12.30`, `$1,234.50`. */
export function dollars(amount: number): string {
  if (amount === 0) return '$0'
  if (amount < LEAST) return `<$${LEAST}`
  if (amount < EXACT_BELOW) return `$${amount.toFixed(3)}`
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  return `$${amount.toLocaleString('en', digits)}`
}

/** All tokens, from a cache or not. */
export function tokensOf(used: UsageSum): number {
  return used.inputTokens + used.outputTokens + used.cacheReadTokens + used.cacheWriteTokens
}
