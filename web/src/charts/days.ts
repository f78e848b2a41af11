const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** `Jan 31`, of `2026-01-31`. */
export function dayLabel(day: string): string {
  return DAY.format(new Date(`${day}T00:00:00Z`))
}
