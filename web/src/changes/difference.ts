import type { ChangedFile, FileChanges, WorktreeChanges } from '@callboard/react'
import type { Hunk, UnifiedLine } from '../diffs/unified'
import { clock } from '../parts/times'
import { firstLine } from '../parts/visible'
import { text } from './text'

const KINDS = { same: 'kept', added: 'added', removed: 'removed' } as const

/** The hunks of a file, as they are drawn. */
export function drawnHunks(changes: FileChanges): Hunk[] {
  return changes.hunks.map(({ heading, lines }) => ({
    at: heading,
    lines: lines.map(
      (line): UnifiedLine => ({
        ...{ kind: KINDS[line.kind], text: line.text },
        ...{ before: line.old, after: line.new },
      }),
    ),
  }))
}

/** What else there is to say of a file, in words. */
export function marksOf(file: ChangedFile): string[] {
  const { staged, unstaged, binary, submodule, lfs, tooLarge } = file
  const both = staged && unstaged
  return [
    both ? text.partlyStaged : staged ? text.staged : unstaged ? text.unstaged : text.committed,
    binary && text.binary,
    submodule && text.submodule,
    lfs && text.lfs,
    tooLarge && text.tooLarge,
  ].filter((mark) => mark !== false)
}

/** Whether there are lines to look at. */
export function hasLines({ binary, submodule, tooLarge }: ChangedFile): boolean {
  return !binary && !submodule && !tooLarge
}

/** How many lines all files add and remove. */
export function totalOf(files: ReadonlyArray<ChangedFile>) {
  return {
    added: files.reduce((sum, one) => sum + (one.added ?? 0), 0),
    removed: files.reduce((sum, one) => sum + (one.removed ?? 0), 0),
  }
}

/** The turns that can be compared with, newest first. */
export function turnOptions({ turns }: WorktreeChanges) {
  return [...turns].reverse().map(({ id, at, prompt }) => ({
    id,
    label: text.turn(clock(at), prompt ? shortened(firstLine(prompt)) : ''),
  }))
}

const LONGEST = 60

function shortened(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}
