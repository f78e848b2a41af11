import { KeyHint } from '../parts/KeyHint'
import { useShortcut } from '../shell/shortcuts'
import { useReading } from './reading'

interface Props {
  readonly id: string
  /** What cannot be done yet, as its button calls it. */
  readonly yes: string
  readonly keys: boolean
  /** Whether all of it is known here. */
  readonly isKnown?: boolean
}

/** Why a question cannot be allowed yet, and the way to the end of it. */
export function Blocked({ id, yes, keys, isKnown = true }: Props) {
  const { where, jump } = useReading()
  if (!isKnown) {
    return (
      <p className="blocked" id={id}>
        Only part of it is here: allow it in the agent's terminal
      </p>
    )
  }
  if (where !== 'below') return null
  return (
    <p className="blocked row" id={id}>
      <span>Scroll to the end to enable {yes}</span>
      <button type="button" className="button button--plain" onClick={jump}>
        Jump to end {keys && <KeyHint>v</KeyHint>}
      </button>
      {keys && <JumpKey jump={jump} />}
    </p>
  )
}

function JumpKey({ jump }: { readonly jump: () => void }) {
  useShortcut('This question', 'v', 'Jump to the end of it', jump)
  return null
}
