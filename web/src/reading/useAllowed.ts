import { say } from '../parts/Toasts'
import { useReading } from './reading'
import { text } from './text'

/** A yes that counts only for what has been read. */
export interface Allowed {
  readonly isAllowed: boolean
  /** Do this if it is allowed, else say why it is not. */
  readonly only: (run: () => void) => void
}

/** Whether a question may be allowed: its end is known here and has been in view. */
export function useAllowed(yes: string, isKnown = true): Allowed {
  const { where } = useReading()
  const isAllowed = isKnown && where === 'seen'
  const only = (run: () => void) => {
    if (isAllowed) run()
    else say(isKnown ? text.scroll(yes) : text.inTerminal)
  }
  return { isAllowed, only }
}
