import { KeyHint } from '../parts/KeyHint'
import { useShortcut } from '../shell/shortcuts'
import { useReading } from './reading'
import { text } from './text'

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
        {text.partOnly}
      </p>
    )
  }
  if (where !== 'below') return null
  return (
    <p className="blocked row" id={id}>
      <span>{text.scroll(yes)}</span>
      <button type="button" className="button button--plain" onClick={jump}>
        {text.jump} {keys && <KeyHint>v</KeyHint>}
      </button>
      {keys && <JumpKey jump={jump} />}
    </p>
  )
}

function JumpKey({ jump }: { readonly jump: () => void }) {
  useShortcut(text.shortcuts, 'v', text.jumpKey, jump)
  return null
}
