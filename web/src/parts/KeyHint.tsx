import type { ReactNode } from 'react'

/** The key that does the same as a button; for the eye only, the list of keys says it to all. */
export function KeyHint({ children }: { readonly children: ReactNode }) {
  return (
    <span className="key" aria-hidden="true">
      {children}
    </span>
  )
}
