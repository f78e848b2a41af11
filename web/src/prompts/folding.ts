/** A prompt in two parts: what it asks, in a line, and all the rest. */
export interface Prompt {
  readonly title: string | null
  readonly body: string
}

/** What cannot stand alone on a line: a fence, a table, a list, a quotation, an image. */
const BEGINS_BLOCK = /^\s*(?:```|~~~|\||[-*+]\s|\d+[.)]\s|>|!\[|---)/
const SIGNS = /^\s*#{1,6}\s+|\s+#+\s*$/g

/** The first line is what is asked, unless it is the start of something longer. */
export function promptOf(text: string): Prompt {
  const trimmed = text.trimStart()
  const [first = '', ...rest] = trimmed.split('\n')
  if (BEGINS_BLOCK.test(first)) return { title: null, body: trimmed.trimEnd() }
  return { title: titleOf(first), body: rest.join('\n').trimEnd() }
}

/** A first line without the signs of a heading. */
export function titleOf(line: string): string {
  return line.replace(SIGNS, '').trim()
}

const SYNTAX = /[*_`#|<>[\]~\\&]|:\/\/|mailto:|^\s*(?:[-+]\s|\d+[.)]\s|---|===)|^(?: {4}|\t)/m

/** Whether a text looks the same as Markdown and as it is: then no one has to wait for it. */
export function isPlain(text: string): boolean {
  return !SYNTAX.test(text)
}

/** Longer prompts are folded … */
const MOST_LINES = 40
/** … to so many lines, so that the way to the rest is in view too. */
const KEPT_LINES = 12

/** The start of a long text; null for one that is shown at once. */
export function folded(text: string): string | null {
  const lines = text.split('\n')
  return lines.length > MOST_LINES ? lines.slice(0, KEPT_LINES).join('\n') : null
}
