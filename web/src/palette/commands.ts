/** Something that the palette leads to or does. */
export interface Command {
  readonly id: string
  readonly group: string
  readonly label: string
  /** What tells it from others of the same label. */
  readonly hint?: string
  /** The keys that do the same. */
  readonly keys?: string
  readonly run: () => void
}

/** How many are shown of a group when nothing is written yet, and at most at all. */
const AT_FIRST = 6
const MOST = 50

/** The commands that fit what was written, the closest first; groups stay together. */
export function matching(commands: ReadonlyArray<Command>, text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return firstOfEach(commands)
  const scored = commands
    .map((command) => ({ command, score: scoreOf(command, words) }))
    .filter(({ score }) => score > 0)
  const best = new Map<string, number>()
  for (const { command, score } of scored) {
    best.set(command.group, Math.max(score, best.get(command.group) ?? 0))
  }
  const groupScore = ({ group }: Command) => best.get(group) ?? 0
  scored.sort(
    (a, b) =>
      groupScore(b.command) - groupScore(a.command) ||
      a.command.group.localeCompare(b.command.group) ||
      b.score - a.score,
  )
  return scored.slice(0, MOST).map(({ command }) => command)
}

function firstOfEach(commands: ReadonlyArray<Command>): Command[] {
  const counts = new Map<string, number>()
  return commands.filter(({ group }) => {
    const count = (counts.get(group) ?? 0) + 1
    counts.set(group, count)
    return count <= AT_FIRST
  })
}

/** Every word has to be somewhere; the start of the label counts most, then of a word. */
function scoreOf({ label, hint = '', group }: Command, words: ReadonlyArray<string>): number {
  let score = 0
  for (const word of words) {
    const one = scoreIn(label, word) * 3 || scoreIn(hint, word) * 2 || scoreIn(group, word)
    if (one === 0) return 0
    score += one
  }
  return score
}

function scoreIn(text: string, word: string): number {
  const at = text.toLowerCase().indexOf(word)
  if (at < 0) return 0
  if (at === 0) return 3
  return /[\s/_.:-]/.test(text[at - 1] ?? '') ? 2 : 1
}
