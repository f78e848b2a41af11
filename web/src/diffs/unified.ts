import type { Kind } from '../parts/lines'

/** A line of a unified diff, with its numbers in the file before and after. */
export interface UnifiedLine {
  readonly kind: Kind
  readonly text: string
  readonly before: number | null
  readonly after: number | null
}

/** Lines that belong together, and what its header says, such as the function around them. */
export interface Hunk {
  readonly at: string
  readonly lines: ReadonlyArray<UnifiedLine>
}

const HEADER = /^@@(?: -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)?)? @@(.*)$/
/** Names of files, which stand before the first hunk. */
const NAMES =
  /^(?:---|\+\+\+|diff |index |new file|deleted file|old mode|new mode|similarity|rename)/
const NO_NEWLINE = '\\'

/** A unified diff in its hunks. Without headers, all of it is one without numbers. */
export function hunksOf(diff: string): Hunk[] {
  const hunks: Open[] = []
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const header = HEADER.exec(line)
    const open = hunks.at(-1)
    if (header) hunks.push(opened(header[3]?.trim(), number(header[1]), number(header[2])))
    else if (open) add(open, line)
    else if (line !== '' && !NAMES.test(line)) {
      const first = opened()
      add(first, line)
      hunks.push(first)
    }
  }
  return hunks
}

interface Open extends Hunk {
  readonly lines: UnifiedLine[]
  /** The numbers of the next line; null where no header has told them. */
  before: number | null
  after: number | null
}

function opened(at = '', before: number | null = null, after: number | null = null): Open {
  return { at, lines: [], before, after }
}

function number(told: string | undefined): number | null {
  return told === undefined ? null : Number(told)
}

function add(hunk: Open, line: string): void {
  if (line.startsWith(NO_NEWLINE)) return
  const kind = kindOf(line)
  const before = kind === 'added' ? null : hunk.before
  const after = kind === 'removed' ? null : hunk.after
  hunk.lines.push({ kind, text: line.slice(1), before, after })
  if (before !== null) hunk.before = before + 1
  if (after !== null) hunk.after = after + 1
}

function kindOf(line: string): Kind {
  if (line.startsWith('+')) return 'added'
  return line.startsWith('-') ? 'removed' : 'kept'
}

/** How many lines a diff adds and removes. */
export function countsOf(hunks: ReadonlyArray<Hunk>) {
  const count = (kind: Kind) =>
    hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.kind === kind).length, 0)
  return { added: count('added'), removed: count('removed') }
}

const LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bash: ['sh', 'bash', 'zsh'],
    css: ['css'],
    go: ['go'],
    ini: ['ini', 'toml', 'cfg'],
    java: ['java'],
    javascript: ['js', 'mjs', 'cjs', 'jsx'],
    json: ['json', 'jsonl'],
    python: ['py', 'pyi'],
    rust: ['rs'],
    sql: ['sql'],
    typescript: ['ts', 'tsx', 'mts', 'cts'],
    xml: ['xml', 'html', 'svg'],
    yaml: ['yml', 'yaml'],
  }).flatMap(([language, endings]) => endings.map((ending) => [ending, language] as const)),
)

/** The language of a file, by its name; null for one that is not coloured. */
export function languageOf(path: string): string | null {
  return LANGUAGES.get(path.split('.').at(-1)?.toLowerCase() ?? '') ?? null
}
