import { visible } from '../parts/visible'
import type { Beat } from './story'

const texts = new WeakMap<Beat, string>()
const SPOKEN = new Set(['text:delta', 'thinking:delta'])
const AROUND = 60

/** What is looked for: these letters, large or small. Null when there is nothing to look for. */
export function wanted(query: string): RegExp | null {
  const words = query.trim()
  return words === '' ? null : new RegExp(escaped(words), 'giu')
}

// RegExp.escape is too new for some browsers.
function escaped(words: string): string {
  return words.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/** Which lines contain it: in what they say, or anywhere in their events. */
export function matches(beats: ReadonlyArray<Beat>, query: RegExp | null): number[] {
  if (!query) return []
  return beats.flatMap((beat, index) => (contains(textOf(beat), query) ? [index] : []))
}

function contains(text: string, query: RegExp): boolean {
  return text.search(query) >= 0
}

/** All that a line says and that its events hold. */
function textOf(beat: Beat): string {
  const known = texts.get(beat)
  if (known !== undefined) return known
  const parts = [beat.title]
  const isSpoken = beat.events.every(({ name }) => SPOKEN.has(name))
  // What an agent says comes in pieces, and a word may be in two of them.
  if (isSpoken) parts.push(beat.detail ?? '')
  else for (const { name, payload } of beat.events) collect(payload, parts, name)
  const text = parts.join('\n')
  texts.set(beat, text)
  return text
}

function collect(value: unknown, into: string[], key: string): void {
  if (key) into.push(key)
  if (Array.isArray(value)) for (const one of value) collect(one, into, '')
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) collect(member, into, name)
  else if (value !== null && value !== undefined) into.push(visible(String(value)))
}

/** The place where a line contains it, if that is not in what is shown of the line. */
export function excerptAround(beat: Beat, shown: string, query: RegExp): string | null {
  if (contains(shown, query)) return null
  const text = textOf(beat)
  query.lastIndex = 0
  const found = query.exec(text)
  if (!found) return null
  const start = Math.max(0, found.index - AROUND)
  const end = found.index + found[0].length + AROUND
  const part = text.slice(start, end).replaceAll('\n', ' ')
  return `${start > 0 ? '…' : ''}${part}${end < text.length ? '…' : ''}`
}

/** A text in pieces, each with whether it is a match. */
export function marked(text: string, query: RegExp): Array<{ text: string; isMatch: boolean }> {
  const pieces: Array<{ text: string; isMatch: boolean }> = []
  let from = 0
  query.lastIndex = 0
  for (const found of text.matchAll(query)) {
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), isMatch: false })
    pieces.push({ text: found[0], isMatch: true })
    from = found.index + found[0].length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isMatch: false })
  return pieces
}
