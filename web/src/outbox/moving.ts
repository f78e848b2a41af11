const SETTLES_MS = 600
const answered = new Set<string>()
const returners = new Set<Returner>()
let moved = Number.NEGATIVE_INFINITY
let isFocusWanted = false

/** Shows a question again and gives it the focus; false if this page doesn't have it. */
type Returner = (id: string) => boolean

/** Say how the page brings back a question whose answer was undone. */
export function onReturn(returner: Returner): () => void {
  returners.add(returner)
  return () => returners.delete(returner)
}

/** Bring back a question whose answer was undone; false if no page here has it. */
export function returnTo(id: string): boolean {
  noteMoved()
  return [...returners].some((returner) => returner(id))
}

/** Note that someone answered here, and so expects the focus to continue from there. */
export function noteAnswered(id: string): void {
  answered.add(id)
}

/** Whether a question was answered on this page. */
export function wasAnsweredHere(id: string): boolean {
  return answered.has(id)
}

/** Note that the next question comes into view. */
export function noteMoved(): void {
  moved = performance.now()
}

/** Give the focus to the question that is shown next. */
export function wantFocus(): void {
  isFocusWanted = true
}

/** Whether the focus is to go to what is shown now; asked once. */
export function takesFocus(): boolean {
  const wanted = isFocusWanted
  isFocusWanted = false
  return wanted
}

/** Whether a key or a click may still be meant for the question before. */
export function isSettling(): boolean {
  return performance.now() - moved < SETTLES_MS
}
