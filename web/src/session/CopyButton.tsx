import type { ReactNode } from 'react'
import { copyAndSay } from '../parts/clipboard'
import { CopyIcon } from '../parts/icons'

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
