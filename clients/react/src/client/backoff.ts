const FIRST_MS = 100
const LONGEST_MS = 5_000

/** How long to wait before the next try: 0.1 s, doubled each time, at most 5 s, never in step. */
export class Backoff {
  private next = FIRST_MS

  /** Milliseconds to wait now: between half of the step and all of it. */
  step(): number {
    const most = this.next
    this.next = Math.min(most * 2, LONGEST_MS)
    // Readers that a server lost together should not come back together.
    return most / 2 + Math.random() * (most / 2)
  }

  /** It went well: start over. */
  reset(): void {
    this.next = FIRST_MS
  }
}

/** Wait, unless given up; a browser that finds its network again ends the wait. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      globalThis.removeEventListener?.('online', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
    globalThis.addEventListener?.('online', done)
    if (signal.aborted) done()
  })
}
