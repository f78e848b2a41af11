/** Filters under a name, kept in this browser. */
export interface View {
  readonly name: string
  /** As in the address, without the question mark. */
  readonly search: string
}

const KEY = 'callboard.inbox.views'
const MOST = 20

/** The views that were saved here. */
export function savedViews(): ReadonlyArray<View> {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(isView) : []
  } catch {
    return []
  }
}

function isView(told: unknown): told is View {
  const { name, search } = (told ?? {}) as Partial<View>
  return typeof name === 'string' && typeof search === 'string'
}

/** Save a view, in place of one with the same name; returns all of them. */
export function saveView(view: View): ReadonlyArray<View> {
  return keep([...savedViews().filter(({ name }) => name !== view.name), view].slice(-MOST))
}

/** Remove a view; returns the others. */
export function removeView(name: string): ReadonlyArray<View> {
  return keep(savedViews().filter((view) => view.name !== name))
}

function keep(views: ReadonlyArray<View>): ReadonlyArray<View> {
  window.localStorage.setItem(KEY, JSON.stringify(views))
  return views
}
