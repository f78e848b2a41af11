import type { ReactNode } from 'react'

interface Props {
  readonly title: string
  readonly children?: ReactNode
}

/** What stands where nothing is yet, with what to do next. */
export function Empty({ title, children }: Props) {
  return (
    <div className="empty">
      <svg viewBox="0 0 80 80" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
        <rect x="12" y="16" width="56" height="48" rx="4" />
        <path d="M12 54h56" />
        <rect x="24" y="28" width="32" height="20" rx="2" fill="var(--surface)" />
        <circle cx="40" cy="28" r="4" fill="var(--lamp)" stroke="none" />
      </svg>
      <h2>{title}</h2>
      {children}
    </div>
  )
}
