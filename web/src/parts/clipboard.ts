import { say } from './Toasts'
import { text } from './text'

/** Put a text on the clipboard; returns whether that worked. */
export async function copyText(value: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(value)
    return true
  } catch {
    // Missing where the page comes over plain HTTP from another machine.
    return byHand(value)
  }
}

/** Put a text on the clipboard, and say whether that worked. */
export async function copyAndSay(value: string): Promise<void> {
  say((await copyText(value)) ? text.clipboard.copied : text.clipboard.notCopied)
}

function byHand(value: string): boolean {
  const field = document.createElement('textarea')
  field.value = value
  field.className = 'hidden'
  // Behind an open dialog, nothing can be selected.
  const place = document.querySelector('dialog[open]') ?? document.body
  place.append(field)
  field.select()
  const copied = document.execCommand('copy')
  field.remove()
  return copied
}
