import { text } from './text'

/** How long ago, or until when, in few words. */
export function ago(then: number, now: number): string {
  const past = now - then
  if (past < -1000) return text.times.in(roughly(-past))
  if (past < 5000) return text.times.now
  return text.times.ago(roughly(past))
}

function roughly(ms: number): string {
  return ms < 59_500 ? `${Math.round(ms / 1000)} s` : length(ms)
}

/** A length of time in its largest unit or two: `340 ms`, `12 s`, `4 min`, `2 h 5 min`, `3 d`. */
export function length(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  return `${Math.floor(hours / 24)} d`
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** The time of day. */
export function clock(moment: string): string {
  return CLOCK.format(new Date(moment))
}

/** The day and the time. */
export function whole(moment: string): string {
  return WHOLE.format(new Date(moment))
}
