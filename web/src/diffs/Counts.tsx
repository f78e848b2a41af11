import { text } from './text'

/** How many lines were added and removed. */
export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="counts mono">
      {added > 0 && (
        <span className="counts__added">
          <span aria-hidden="true">+{added}</span>
          <span className="hidden">{text.added(added)} </span>
        </span>
      )}
      {removed > 0 && (
        <span className="counts__removed">
          <span aria-hidden="true">−{removed}</span>
          <span className="hidden">{text.removed(removed)}</span>
        </span>
      )}
    </span>
  )
}
