/** What people read is in the `text.ts` of its folder, ready to be translated. */

import { readdirSync, readFileSync } from 'node:fs'
import { parseSync } from 'vite'
import { expect, describe as group, it } from 'vitest'

const SOURCE = new URL('../src/', import.meta.url).pathname

/** Folders whose texts are still to be moved. Entries are only ever removed. */
const TO_DO: ReadonlyArray<string> = []

/** Attributes that are read aloud or shown, of elements and of our own components. */
const SHOWN =
  /^(aria-(label|description|placeholder|roledescription|valuetext)|alt|confirm|empty|heading|hint|label|message|placeholder|title)$/
/** Functions that show what they are given. */
const SHOWING = new Set(['say', 'setTitle', 'useTitle', 'confirm', 'alert'])

interface Node {
  readonly type: string
  readonly start: number
  readonly [member: string]: unknown
}

interface Found {
  readonly start: number
  readonly text: string
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** Names and sentences have two letters in a row; marks between texts do not. */
const isRead = (text: string) => /\p{L}{2}/u.test(text)
/** Nothing but prose starts like "Not yet" or goes like "the next one". */
const isProse = (text: string) => /^\p{Lu}\p{Ll}+ \p{L}|\p{Ll}{2} \p{Ll}+ \p{Ll}{2}/u.test(text)
/** Where several words in a row are names: of styles, or of what is imported. */
const NAMES = new Set(['className', 'class', 'd', 'href', 'rel', 'viewBox', 'style'])

function children(node: Node): Node[] {
  return Object.values(node).flatMap((value) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  )
}

/** The literals that an expression can come to: both ways of a choice, and parts of a template. */
function literals(node: Node): Found[] {
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'string' ? [{ start: node.start, text: node.value }] : []
    case 'TemplateLiteral':
      return (node.quasis as ReadonlyArray<Node>).map((part) => ({
        start: part.start,
        text: (part.value as { cooked: string }).cooked,
      }))
    case 'ConditionalExpression':
      return [...literals(node.consequent as Node), ...literals(node.alternate as Node)]
    case 'LogicalExpression':
    case 'BinaryExpression':
      return /^(===?|!==?|[<>]=?)$/.test(node.operator as string)
        ? []
        : [...literals(node.left as Node), ...literals(node.right as Node)]
    case 'JSXExpressionContainer':
      return literals(node.expression as Node)
    default:
      return []
  }
}

/** The texts of one node that people would read. */
function shown(node: Node): Found[] {
  if (node.type === 'JSXText') return [{ start: node.start, text: node.value as string }]
  if (node.type === 'JSXElement' || node.type === 'JSXFragment')
    return (node.children as ReadonlyArray<Node>)
      .filter((child) => child.type === 'JSXExpressionContainer')
      .flatMap(literals)
  if (node.type === 'JSXAttribute') {
    const name = (node.name as Node).name
    return typeof name === 'string' && SHOWN.test(name) && isNode(node.value)
      ? literals(node.value)
      : []
  }
  if (node.type === 'CallExpression') {
    const name = (node.callee as Node).name
    return typeof name === 'string' && SHOWING.has(name)
      ? (node.arguments as ReadonlyArray<Node>).flatMap(literals)
      : []
  }
  return []
}

/** What a component says itself: where, and the text. */
function spoken(name: string, code: string): string[] {
  const found = new Map<number, string>()
  const look = (node: Node): void => {
    const read = shown(node).filter(({ text }) => isRead(text))
    const prose = literals(node).filter(({ text }) => isProse(text))
    for (const { start, text } of [...read, ...prose]) found.set(start, text)
    if (node.type === 'JSXAttribute' && NAMES.has((node.name as Node).name as string)) return
    children(node).forEach(look)
  }
  look(parseSync(name, code).program as unknown as Node)
  return [...found].map(([start, text]) => {
    const line = code.slice(0, start).split('\n').length
    return `${name}:${line}: ${text.trim().replace(/\s+/g, ' ')}`
  })
}

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !/(^|\/)text\.ts$|\.d\.ts$/.test(name))
  .sort()
const folderOf = (name: string) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '.')
const inFolder = (folder: string) =>
  files
    .filter((name) => folderOf(name) === folder)
    .flatMap((name) => spoken(name, readFileSync(`${SOURCE}${name}`, 'utf8')))

group('the texts of the dashboard', () => {
  const folders = [...new Set(files.map(folderOf))].sort()

  it.each(folders.filter((folder) => !TO_DO.includes(folder)))('%s has them in text.ts', (folder) =>
    expect(inFolder(folder)).toEqual([]),
  )

  it.each(TO_DO)('%s is still to be moved; if it was, strike it from the list', (folder) =>
    expect(inFolder(folder)).not.toEqual([]),
  )
})

group('the search for texts', () => {
  it.each([
    ['<p>Saved</p>', ['Saved']],
    ['<p>{done ? "Saved" : `Saving $' + '{name}`}</p>', ['Saved', 'Saving']],
    ['<button aria-label="Close" className="plain button" />', ['Close']],
    ['<Empty title={failed && "No answer"} />', ['No answer']],
    ['say("Copied")', ['Copied']],
    ['{ cancelled: "Not needed" }', ['Not needed']],
    ['<p className="wide note">{text.saved}: {count} · {status === "failed"}</p>', []],
  ])('%s', (code, expected) =>
    expect(spoken('x.tsx', `const x = ${code}`).map((at) => at.split(': ')[1])).toEqual(expected),
  )
})
