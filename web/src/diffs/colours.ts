import { useEffect, useState } from 'react'
import type { Coloured } from '../prompts/highlight'
import { type Hunk, languageOf, type UnifiedLine } from './unified'

/** The stretches of each line; a line that is not in it has no colours. */
export type Colours = ReadonlyMap<UnifiedLine, ReadonlyArray<Coloured>>

const NONE: Colours = new Map()

/** The syntax colours of a diff, as soon as they are there. The code for them is loaded for it. */
export function useColours(hunks: ReadonlyArray<Hunk>, path: string): Colours {
  const [found, setFound] = useState<{ hunks: ReadonlyArray<Hunk>; colours: Colours } | null>(null)
  const language = languageOf(path)
  useEffect(() => {
    if (!language || hunks.length === 0) return
    let isWanted = true
    import('../prompts/highlight').then(
      ({ coloured }) => {
        if (isWanted) setFound({ hunks, colours: coloursOf(hunks, language, coloured) })
      },
      () => {},
    )
    return () => {
      isWanted = false
    }
  }, [hunks, language])
  return found?.hunks === hunks ? found.colours : NONE
}

type Colouring = (code: string, language: string) => ReadonlyArray<Coloured> | null

/** Both versions are coloured whole: a line alone may start within a comment. */
export function coloursOf(
  hunks: ReadonlyArray<Hunk>,
  language: string,
  coloured: Colouring,
): Colours {
  const found = new Map<UnifiedLine, ReadonlyArray<Coloured>>()
  for (const { lines } of hunks) {
    for (const without of ['added', 'removed'] as const) {
      const version = lines.filter((line) => line.kind !== without)
      const stretches = coloured(version.map((line) => line.text).join('\n'), language)
      inLines(stretches ?? []).forEach((line, index) => {
        const at = version[index]
        if (at) found.set(at, line)
      })
    }
  }
  return found
}

function inLines(stretches: ReadonlyArray<Coloured>): Coloured[][] {
  const lines: Coloured[][] = stretches.length > 0 ? [[]] : []
  for (const { kind, text } of stretches) {
    text.split('\n').forEach((part, index) => {
      if (index > 0) lines.push([])
      if (part) lines.at(-1)?.push({ kind, text: part })
    })
  }
  return lines
}
