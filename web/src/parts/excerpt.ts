import { text as catalogue } from './text'
import { visible } from './visible'

const words = catalogue.excerpt

/** A stretch of a text as it is shown: as it is, or in words where it would only take up room. */
export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  /** Blank lines, as a line of its own. */
  | { readonly kind: 'blank'; readonly text: string }
  /** Spaces, within a line. */
  | { readonly kind: 'gap'; readonly text: string }

/** A text that is too long to be drawn at once: its start, its end, and what is between. */
export interface Excerpt {
  readonly head: string
  readonly omitted: { readonly lines: number; readonly characters: number } | null
  readonly tail: string
}

/** So many blank lines, and more, are told instead of shown. */
const BLANK_LINES = 3
const SPACES = 100
const LONGEST = 20_000
const MOST_LINES = 500
const KEPT = 8_000
const KEPT_LINES = 200

// Also those that only some programs take for the end of a line: all of them look like one.
const BREAK = /\r\n|[\n\v\f\r\u0085\p{Zl}\p{Zp}]/gu
const BLANK = /^[\s\p{Zs}\p{DI}\u2800]*$/u
// What `visible` leaves alone, and still looks like nothing.
const GAP = new RegExp(`[\\t\\p{Zs}\\u2800\\u3164\\u115f\\u1160\\uffa0]{${SPACES},}`, 'gu')

interface Line {
  readonly text: string
  readonly end: string
}

function linesOf(text: string): Line[] {
  const lines: Line[] = []
  let start = 0
  for (const { index, 0: end } of text.matchAll(BREAK)) {
    lines.push({ text: text.slice(start, index), end })
    start = index + end.length
  }
  if (start < text.length) lines.push({ text: text.slice(start), end: '' })
  return lines
}

/** How many lines a text has. */
export function lineCount(text: string): number {
  return linesOf(text).length
}

/** Whether a line looks like nothing. */
export function isBlank(line: string): boolean {
  return BLANK.test(visible(line))
}

/** Whether so many blank lines in a row are told in words. */
export function isTold(blankLines: number): boolean {
  return blankLines >= BLANK_LINES
}

/** The words for blank lines that are not shown. */
export function blankLines(count: number): string {
  return words.blankLines(count)
}

/** A text in pieces: nothing in it is hidden, and nothing in it can push the rest out of sight. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = []
  let kept: Line[] = []
  const flush = (isLast: boolean) => {
    if (kept.length > 0) pieces.push(...inLine(joined(kept, isLast)))
    kept = []
  }
  const lines = linesOf(text)
  for (let at = 0; at < lines.length; ) {
    const end = blankUntil(lines, at)
    if (isTold(end - at)) {
      flush(false)
      pieces.push({ kind: 'blank', text: blankLines(end - at) })
      at = end
    } else {
      const next = Math.max(end, at + 1)
      kept.push(...lines.slice(at, next))
      at = next
    }
  }
  flush(true)
  return pieces
}

function blankUntil(lines: ReadonlyArray<Line>, from: number): number {
  let at = from
  while (at < lines.length && isBlank(lines[at]?.text ?? '')) at += 1
  return at
}

/** Lines as they were; before blank lines that are told, the last one needs no end. */
function joined(lines: ReadonlyArray<Line>, isLast: boolean): string {
  const text = lines.map((line) => line.text + line.end).join('')
  return isLast ? text : text.replace(/\r?\n$/, '')
}

function inLine(text: string): Piece[] {
  const pieces: Piece[] = []
  let start = 0
  const add = (until: number) => {
    if (until > start) pieces.push({ kind: 'text', text: visible(text.slice(start, until)) })
  }
  for (const { index, 0: gap } of text.matchAll(GAP)) {
    add(index)
    pieces.push({ kind: 'gap', text: words.spaces(gap.length) })
    start = index + gap.length
  }
  add(text.length)
  return pieces
}

/** The start and the end of a text; all of it, where it is not too long. */
export function excerptOf(text: string): Excerpt {
  const lines = linesOf(text)
  const whole = { head: text, omitted: null, tail: '' }
  if (!isLong(text.length, lines.length) || !isLongAsShown(text)) return whole
  const head = text.slice(0, headEnd(text, lines))
  const tail = text.slice(tailStart(text, lines))
  const characters = text.length - head.length - tail.length
  const between = text.slice(head.length, head.length + characters)
  return characters <= 0
    ? whole
    : { head, omitted: { lines: lineCount(between), characters }, tail }
}

function isLong(characters: number, lines: number): boolean {
  return characters > LONGEST || lines > MOST_LINES
}

/** Blank lines and spaces that are told in words make no text long. */
function isLongAsShown(text: string): boolean {
  const shown = piecesOf(text).map((piece) => piece.text)
  const characters = shown.reduce((sum, piece) => sum + piece.length, 0)
  const lines = shown.reduce((sum, piece) => sum + lineCount(piece), 0)
  return isLong(characters, lines)
}

function headEnd(text: string, lines: ReadonlyArray<Line>): number {
  let end = 0
  for (const line of lines.slice(0, KEPT_LINES)) {
    const next = end + line.text.length + line.end.length
    if (next > KEPT) return end > 0 ? end : between(text, KEPT)
    end = next
  }
  return end
}

function tailStart(text: string, lines: ReadonlyArray<Line>): number {
  let start = text.length
  for (const line of lines.slice(-KEPT_LINES).reverse()) {
    const next = start - line.text.length - line.end.length
    if (text.length - next > KEPT)
      return start < text.length ? start : between(text, text.length - KEPT)
    start = next
  }
  return start
}

/** A place in a text that is not within a character. */
function between(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? '') ? at + 1 : at
}

/** The words for what is not shown of a text. */
export function omittedWords({ lines, characters }: NonNullable<Excerpt['omitted']>): string {
  return words.notShown(lines, characters)
}

const A_LOOK = 1000

/** How much there is to read; null for what is seen at a glance. */
export function sizeOf(text: string): string | null {
  const lines = lineCount(text)
  if (lines <= 1 && text.length <= A_LOOK) return null
  return words.size(lines, bytes(new TextEncoder().encode(text).length))
}

function bytes(count: number): string {
  if (count < 1000) return words.bytes(count)
  if (count < 999_950) return `${(count / 1000).toFixed(1)} KB`
  return `${(count / 1_000_000).toFixed(1)} MB`
}
