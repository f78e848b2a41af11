import { say } from '../parts/Toasts'
import { text } from './text'

/** Put a text on the clipboard, and say whether that worked. */
export async function copyText(value: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(value)
    say(text.copied)
  } catch {
    // Missing where the page comes over plain HTTP from another machine.
    say(byHand(value) ? text.copied : text.notCopied)
  }
}

function byHand(value: string): boolean {
  const field = document.createElement('textarea')
  field.value = value
  field.className = 'hidden'
  document.body.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  return copied
}
