import type { ReactNode } from 'react'
import { copyAndSay } from '../parts/clipboard'

interface Props {
  /** What is copied; asked for when it is needed, because it may be large. */
  readonly value: () => string
  readonly label: string
  readonly children?: ReactNode
}

/** Copies something, and says so. */
export function CopyButton({ value, label, children }: Props) {
  return (
    <button
      type="button"
      className="button button--plain copy"
      aria-label={label}
      title={label}
      onClick={() => void copyAndSay(value())}
    >
      {children ?? <CopyIcon />}
    </button>
  )
}

function CopyIcon() {
  return (
    <svg className="icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden="true">
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.2" strokeWidth="1.5" />
      <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" strokeWidth="1.5" />
    </svg>
  )
}
