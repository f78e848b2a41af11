import { type ReactNode, useId } from 'react'

interface Props {
  readonly title: string
  readonly about: string
  readonly children: ReactNode
}

/** One part of the settings, with what it is for. */
export function Section({ title, about, children }: Props) {
  const id = useId()
  return (
    <section className="setting" aria-labelledby={id}>
      <div className="setting__about">
        <h2 id={id}>{title}</h2>
        <p className="quiet">{about}</p>
      </div>
      <div className="setting__body">{children}</div>
    </section>
  )
}
