import { blankLines, isBlank, isTold } from '../parts/excerpt'

/** A piece of a text that was written as Markdown. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'items'; readonly ordered: boolean; readonly items: ReadonlyArray<Item> }
  /** `info`: what is written behind the marks before it, such as the language. */
  | { readonly kind: 'code'; readonly text: string; readonly info: string }
  /** Blank lines that are told in words. */
  | { readonly kind: 'blank'; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }

/** One point of a list. */
export interface Item {
  readonly text: string
  readonly depth: number
  /** The number or box before it, as it was written. */
  readonly mark: string
}

const HEADING = /^(#{1,6})\s+(.*)$/s
const ITEM = /^(\s*)([-*+]|\d+[.)])\s+(.*)$/s
const FENCE = /^\s*(?:```|~~~)(.*)$/s

/**
 * A plan in blocks: headings, lists, code and paragraphs. It is for reading, no more: whatever is
 * written inside a line stays text, and links lead nowhere.
 */
export function blocksOf(text: string): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) at = take(lines, at, blocks)
  return blocks
}

function take(lines: ReadonlyArray<string>, at: number, blocks: Block[]): number {
  const line = lines[at] ?? ''
  const heading = HEADING.exec(line)
  if (FENCE.test(line)) return code(lines, at, blocks)
  if (ITEM.test(line)) return items(lines, at, blocks)
  if (isBlank(line)) return blank(lines, at, blocks)
  if (!heading) return paragraph(lines, at, blocks)
  blocks.push(headed(heading))
  return at + 1
}

function blank(lines: ReadonlyArray<string>, at: number, blocks: Block[]): number {
  let end = at
  while (end < lines.length && isBlank(lines[end] ?? '')) end += 1
  if (isTold(end - at)) blocks.push({ kind: 'blank', text: blankLines(end - at) })
  return end
}

function headed(match: RegExpExecArray): Block {
  return { kind: 'heading', level: match[1]?.length ?? 1, text: match[2] ?? '' }
}

function code(lines: ReadonlyArray<string>, at: number, blocks: Block[]): number {
  let end = at + 1
  // Marks with something behind them start code; they never end it.
  while (end < lines.length && FENCE.exec(lines[end] ?? '')?.[1]?.trim() !== '') end += 1
  const info = FENCE.exec(lines[at] ?? '')?.[1]?.trim() ?? ''
  blocks.push({ kind: 'code', text: lines.slice(at + 1, end).join('\n'), info })
  return end + 1
}

function items(lines: ReadonlyArray<string>, at: number, blocks: Block[]): number {
  const found: Item[] = []
  let end = at
  for (; end < lines.length; end += 1) {
    const match = ITEM.exec(lines[end] ?? '')
    if (!match) break
    const [, indent = '', mark = '', text = ''] = match
    found.push({ text, mark, depth: Math.min(4, Math.floor(indent.length / 2)) })
  }
  blocks.push({ kind: 'items', ordered: /\d/.test(found[0]?.mark ?? ''), items: found })
  return end
}

function paragraph(lines: ReadonlyArray<string>, at: number, blocks: Block[]): number {
  let end = at
  while (end < lines.length && isPlain(lines[end] ?? '')) end += 1
  blocks.push({ kind: 'text', text: lines.slice(at, end).join('\n') })
  return end
}

function isPlain(line: string): boolean {
  return !isBlank(line) && !HEADING.test(line) && !ITEM.test(line) && !FENCE.test(line)
}
