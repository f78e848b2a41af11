const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const YEAR = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Whether two moments are on different days here. */
export function spansDays(from: string, to: string): boolean {
  return new Date(from).toDateString() !== new Date(to).toDateString()
}

/** The time of day, with the date where that is not clear. */
export function moment(timestamp: string, withDay: boolean): string {
  const date = new Date(timestamp)
  return withDay ? `${dayOf(date)}, ${CLOCK.format(date)}` : CLOCK.format(date)
}

function dayOf(date: Date): string {
  const isThisYear = date.getFullYear() === new Date().getFullYear()
  return (isThisYear ? DAY : YEAR).format(date)
}
