import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { covered, isInView, ReadingContext, useNewReading, useReading } from './reading'

/** What is asked, and the ways to answer: nothing in it is allowed before its end was in view. */
export function ReadFirst({ children }: { readonly children: ReactNode }) {
  return <ReadingContext value={useNewReading()}>{children}</ReadingContext>
}

interface Props {
  readonly label: string
  readonly className?: string
  readonly children: ReactNode
}

/** A box that scrolls when its text is long, and knows whether the end of it has been in view. */
export function ReadBox({ label, className = '', children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className={`readbox ${className}`} aria-label={label} tabIndex={0}>
      {children}
      <End />
    </section>
  )
}

/** The end of what has to be read. */
export function End() {
  const { report } = useReading()
  const ref = useRef<HTMLSpanElement>(null)
  const id = useId()
  useLayoutEffect(() => {
    const marker = ref.current
    if (!marker) return
    // A short text is not waited for: a key that is pressed at once finds it read.
    let isSeen = isInView(marker)
    report(id, { where: isSeen ? 'seen' : 'unknown', marker })
    const look = (entries: ReadonlyArray<IntersectionObserverEntry>) => {
      if (isSeen) return
      isSeen = entries.some((entry) => entry.isIntersecting)
      report(id, { where: isSeen ? 'seen' : 'below', marker })
    }
    const observer = new IntersectionObserver(look, {
      rootMargin: `0px 0px -${covered(marker)}px 0px`,
    })
    observer.observe(marker)
    return () => {
      observer.disconnect()
      report(id, null)
    }
  }, [id, report])
  return <span className="readbox__end" ref={ref} aria-hidden="true" />
}

interface UnopenedProps {
  readonly open: () => void
  readonly children: ReactNode
}

/** Stands for an end that is folded away: nothing is allowed before it is unfolded. */
export function Unopened({ open, children }: UnopenedProps) {
  const { report } = useReading()
  const ref = useRef<HTMLButtonElement>(null)
  const latest = useRef(open)
  const id = useId()
  useLayoutEffect(() => {
    latest.current = open
  })
  useLayoutEffect(() => {
    const marker = ref.current
    if (!marker) return
    report(id, { where: 'below', marker, open: () => latest.current() })
    return () => report(id, null)
  }, [id, report])
  return (
    <p className="fold">
      <button ref={ref} type="button" className="button" onClick={open}>
        {children}
      </button>
    </p>
  )
}
