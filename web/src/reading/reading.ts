import { createContext, useCallback, useContext, useMemo, useRef, useState } from 'react'

/** Where the end of a text is: not known yet, out of sight, or it has been in view. */
export type Where = 'unknown' | 'below' | 'seen'

interface End {
  readonly where: Where
  readonly marker: HTMLElement
  /** Shows what is folded, and with it the end. */
  readonly open?: () => void
  /** Whether another end takes its place before long. */
  readonly isPassing?: boolean
}

/** What has been read of a question, and so whether it may be allowed. */
export interface Reading {
  readonly where: Where
  /** Bring the first end that was not in view into view. */
  readonly jump: () => void
  readonly report: (id: string, end: End | null) => void
}

/** Where there is nothing to read, nothing has to be read first. */
const NOTHING: Reading = { where: 'seen', jump: () => {}, report: () => {} }

export const ReadingContext = createContext<Reading>(NOTHING)

/** What has been read so far of the question around. */
export function useReading(): Reading {
  return useContext(ReadingContext)
}

/** A reading that starts over; all the ends that are reported to it count. */
export function useNewReading(): Reading {
  const [ends, setEnds] = useState<ReadonlyMap<string, End>>(new Map())
  const isJumping = useRef(false)
  const report = useCallback((id: string, end: End | null) => {
    if (end && !end.open && !end.isPassing && isJumping.current) {
      isJumping.current = false
      bring(end.marker)
    }
    setEnds((before) => {
      const after = new Map(before)
      if (end) after.set(id, end)
      else after.delete(id)
      return after
    })
  }, [])
  return useMemo(() => {
    const unseen = [...ends.values()].filter((end) => end.where !== 'seen')
    const jump = () => {
      const first = unseen.find((end) => !end.isPassing)
      isJumping.current = first?.open !== undefined
      if (first?.open) first.open()
      else if (first) bring(first.marker)
    }
    return { where: worst(unseen), jump, report }
  }, [ends, report])
}

/** Frames in view after which a page counts as settled, and frames after which it never does. */
const SETTLED = 10
const MOST = 120

/**
 * Bring an end into view, and again while the page settles: what has just been unfolded changes
 * the size of what is around it, and can push the end out of view before it was seen.
 */
function bring(marker: HTMLElement, inView = 0, frames = 0): void {
  const isThere = isInView(marker)
  if (!isThere) marker.scrollIntoView({ block: 'nearest' })
  const now = isThere ? inView + 1 : 0
  if (now < SETTLED && frames < MOST) requestAnimationFrame(() => bring(marker, now, frames + 1))
}

function worst(unseen: ReadonlyArray<End>): Where {
  if (unseen.length === 0) return 'seen'
  return unseen.some((end) => end.where === 'below') ? 'below' : 'unknown'
}

/** The answers that stay in view beside a text, and so may lie over its end. */
export function answersBeside(marker: HTMLElement): HTMLElement | null {
  return marker.closest('.question, .ask')?.querySelector<HTMLElement>('.answers--sticky') ?? null
}

/** How much of the window's lower edge the navigation of a phone and the answers lie over. */
export function covered(marker: HTMLElement): number {
  const answers = answersBeside(marker)
  // Answers that take too much room stay in their place and cover nothing.
  const isOver = answers !== null && answers.dataset.tall !== 'true'
  return tabs() + (isOver ? Math.ceil(answers.getBoundingClientRect().height) : 0)
}

function tabs(): number {
  const bar = document.querySelector('.rail')
  if (!bar || getComputedStyle(bar).position !== 'fixed') return 0
  const { top, bottom } = bar.getBoundingClientRect()
  return top > 0 && bottom >= window.innerHeight ? Math.ceil(window.innerHeight - top) : 0
}

/** Whether an element is within the window, and within whatever scrolls around it. */
export function isInView(marker: HTMLElement): boolean {
  const { top, bottom, width } = marker.getBoundingClientRect()
  if (width === 0 || top < 0 || bottom > window.innerHeight - covered(marker)) return false
  for (let box = marker.parentElement; box; box = box.parentElement) {
    if (getComputedStyle(box).overflowY === 'visible') continue
    const edges = box.getBoundingClientRect()
    if (bottom > edges.bottom + 1 || top < edges.top - 1) return false
  }
  return true
}
