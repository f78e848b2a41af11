import { text } from './text'

/** Stands in for a page that is not there yet. It shows only when that takes a while. */
export function Loading() {
  return (
    <div className="page page--loading" aria-busy="true">
      <p className="quiet">{text.loading}</p>
    </div>
  )
}
