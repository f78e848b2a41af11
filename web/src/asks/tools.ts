import { visible } from '../parts/visible'
import { objectOf, textOf } from './ask'

/** What a tool is about to do, in the shape in which it is best shown. */
export type Doing =
  | { readonly kind: 'command'; readonly command: string; readonly about: string | null }
  | { readonly kind: 'edits'; readonly file: string; readonly edits: ReadonlyArray<Change> }
  | { readonly kind: 'content'; readonly file: string; readonly content: string }
  | { readonly kind: 'other'; readonly input: Readonly<Record<string, unknown>> }

/** One place in a file that changes. */
export interface Change {
  readonly before: string
  readonly after: string
  readonly everywhere: boolean
}

/** What a call of a tool would do. By what its input has, so that other agents' tools fit too. */
export function doingOf(input: Readonly<Record<string, unknown>>): Doing {
  const command = commandOf(input.command)
  if (command !== null) return { kind: 'command', command, about: textOf(input.description) }
  const file = textOf(input.file_path) ?? textOf(input.notebook_path) ?? textOf(input.path)
  if (file === null) return { kind: 'other', input }
  const edits = editsOf(input)
  if (edits.length > 0) return { kind: 'edits', file, edits }
  const content = input.content ?? input.new_source
  if (typeof content === 'string') return { kind: 'content', file, content }
  return { kind: 'other', input }
}

/** Some agents give a command as words. */
function commandOf(told: unknown): string | null {
  if (Array.isArray(told) && told.length > 0) return told.map(String).join(' ')
  return textOf(told)
}

function editsOf(input: Readonly<Record<string, unknown>>): Change[] {
  const several = Array.isArray(input.edits) ? input.edits.map(objectOf) : [input]
  return several
    .filter((one) => typeof one.old_string === 'string' && typeof one.new_string === 'string')
    .map((one) => ({
      before: one.old_string as string,
      after: one.new_string as string,
      everywhere: one.replace_all === true,
    }))
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
