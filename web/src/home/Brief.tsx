import type { ReactNode } from 'react'

interface Props {
  readonly id: string
  readonly title: string
  /** Where all of them are. */
  readonly more?: ReactNode
  /** Shown when the list is empty. */
  readonly calm: string
  readonly children: ReadonlyArray<ReactNode>
}

/** The first few of something, and the way to the rest. */
export function Brief({ id, title, more, calm, children }: Props) {
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {children.length > 0 && more}
      </header>
      {children.length > 0 ? (
        <ul className="glancelist">{children}</ul>
      ) : (
        <p className="glance__calm">{calm}</p>
      )}
    </section>
  )
}
