import { lineCount } from '../parts/excerpt'
import { visible } from '../parts/visible'
import { objectOf, textOf } from './ask'

/** What a tool is about to do, in the shape in which it is best shown. */
export type Doing = (
  | { readonly kind: 'command'; readonly command: string }
  | { readonly kind: 'edits'; readonly file: string; readonly edits: ReadonlyArray<Change> }
  | { readonly kind: 'content'; readonly file: string; readonly content: string }
  | { readonly kind: 'other' }
) & {
  /** What the agent says it is for, if that is short. */
  readonly about: string | null
  /** Everything else that the tool is given: a key may change what it does. */
  readonly rest: ReadonlyArray<readonly [key: string, value: unknown]>
}

/** One place in a file that changes. */
export interface Change {
  readonly before: string
  readonly after: string
  readonly everywhere: boolean
}

type Input = Readonly<Record<string, unknown>>

/** What a call of a tool would do. By what its input has, so that other agents' tools fit too. */
export function doingOf(input: Input): Doing {
  const about = shortOf(input.description)
  const told = about === null ? [] : ['description']
  const command = commandOf(input.command)
  if (command !== null) {
    return { kind: 'command', command, about, rest: without(input, ['command', ...told]) }
  }
  const path = PATHS.find((key) => textOf(input[key]) !== null)
  const file = path && textOf(input[path])
  if (!path || !file) return { kind: 'other', about: null, rest: without(input, []) }
  const edits = editsOf(input)
  if (edits) {
    const shown = [path, 'edits', 'old_string', 'new_string', 'replace_all', ...told]
    return { kind: 'edits', file, edits, about, rest: without(input, shown) }
  }
  const key = CONTENTS.find((one) => typeof input[one] === 'string')
  if (!key) return { kind: 'other', about: null, rest: without(input, []) }
  const content = String(input[key])
  return { kind: 'content', file, content, about, rest: without(input, [path, key, ...told]) }
}

const PATHS = ['file_path', 'notebook_path', 'path']
const CONTENTS = ['content', 'new_source']

function without(input: Input, shown: ReadonlyArray<string>): Doing['rest'] {
  return Object.entries(input).filter(([key]) => !shown.includes(key))
}

const A_LINE = 200

/** A remark on one line; what is longer must not stand before what it is about. */
function shortOf(told: unknown): string | null {
  const text = textOf(told)
  return text !== null && text.length <= A_LINE && lineCount(text) === 1 ? text : null
}

/** Some agents give a command as words. */
function commandOf(told: unknown): string | null {
  if (Array.isArray(told) && told.length > 0) return told.map(String).join(' ')
  return textOf(told)
}

/** The edits, if all that is there is one: else some of them would not be seen. */
function editsOf(input: Input): Change[] | null {
  const several = Array.isArray(input.edits) ? input.edits.map(objectOf) : [input]
  const edits = several.filter(isEdit)
  if (edits.length === 0 || edits.length < several.length) return null
  return edits.map((one) => ({
    before: one.old_string,
    after: one.new_string,
    everywhere: one.replace_all === true,
  }))
}

function isEdit(one: Input): one is Input & { old_string: string; new_string: string } {
  return typeof one.old_string === 'string' && typeof one.new_string === 'string'
}

const TELLING = ['command', 'file_path', 'notebook_path', 'path', 'pattern', 'url', 'query']
const LONGEST = 300

/** What a call of a tool is about, on one line. */
export function briefOf(input: unknown): string {
  const told = objectOf(input)
  const found = TELLING.map((key) => commandOf(told[key])).find((one) => one !== null)
  const text = found ?? textOf(told.description) ?? textOf(told.prompt) ?? ''
  const line = visible(text.replace(/\s+/g, ' ').trim())
  return line.length > LONGEST ? `${line.slice(0, LONGEST)} …` : line
}
