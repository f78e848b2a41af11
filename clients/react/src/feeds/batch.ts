/**
 * Gathers what comes, and hands it on together: the first at once, the rest at most once an
 * interval. However fast events come, the cache changes a bounded number of times a second.
 */
export class Batch<T> {
  private items: T[] = []
  private timer: ReturnType<typeof setTimeout> | undefined
  private handedOn = 0

  constructor(
    private readonly intervalMs: number,
    private readonly handOn: (items: ReadonlyArray<T>) => void,
  ) {}

  /** Take these; they are handed on soon. */
  add(items: ReadonlyArray<T>): void {
    for (const item of items) this.items.push(item)
    if (this.timer !== undefined || this.items.length === 0) return
    const wait = Math.max(0, this.handedOn + this.intervalMs - Date.now())
    // A clock that was set back must not hold anything up.
    this.timer = setTimeout(() => this.now(), Math.min(wait, this.intervalMs))
  }

  /** Hand on what is here, without waiting. */
  now(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    if (this.items.length === 0) return
    const items = this.items
    this.items = []
    this.handedOn = Date.now()
    this.handOn(items)
  }

  /** Forget what is here. */
  drop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.items = []
  }
}
