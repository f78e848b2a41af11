/** The last 30 days, as the person at this browser counts days. */
export const PERIOD = { days: 30, utcOffset: -new Date().getTimezoneOffset() } as const

/** `12,400`, `1.2M`: a number that is read, not computed with. */
export function short(count: number): string {
  const notation = count >= 100_000 ? 'compact' : 'standard'
  return count.toLocaleString('en', { notation, maximumFractionDigits: 1 })
}

/** `98%`; whole numbers, and never 100% while something failed. */
export function percent(rate: number): string {
  const rounded = Math.round(rate * 100)
  return `${rate < 1 ? Math.min(99, rounded) : rounded}%`
}
