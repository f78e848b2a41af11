import { expect, describe as group, it } from 'vitest'
import { coloursOf } from '../src/diffs/colours'
import { countsOf, hunksOf, languageOf } from '../src/diffs/unified'
import { coloured } from '../src/prompts/highlight'

const DIFF = `@@ -3,3 +3,4 @@ def total():
 first
-second
+2nd
+third
 last
@@ -20 +21 @@
-old
+new
\\ No newline at end of file
`

group('a unified diff', () => {
  it('has its lines with the numbers of both versions', () => {
    const hunks = hunksOf(DIFF)
    expect(hunks.map(({ at }) => at)).toEqual(['def total():', ''])
    expect(hunks[0]?.lines.map((one) => [one.kind, one.text, one.before, one.after])).toEqual([
      ['kept', 'first', 3, 3],
      ['removed', 'second', 4, null],
      ['added', '2nd', null, 4],
      ['added', 'third', null, 5],
      ['kept', 'last', 5, 6],
    ])
    expect(hunks[1]?.lines.map((one) => one.before ?? one.after)).toEqual([20, 21])
    expect(countsOf(hunks)).toEqual({ added: 3, removed: 2 })
  })

  it('needs no headers, and no numbers in them', () => {
    const lines = [{ kind: 'removed', text: 'a', before: null, after: null }]
    expect(hunksOf('-a\n')).toEqual([expect.objectContaining({ lines })])
    expect(hunksOf('@@ @@\n-a\n')).toEqual([expect.objectContaining({ lines })])
    expect(hunksOf('--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n')[0]?.lines[0]?.text).toBe('-- a')
    expect(hunksOf('')).toEqual([])
  })

  it('is coloured by what the whole versions are', () => {
    const hunks = hunksOf('@@ -1,3 +1,3 @@\n """\n-def a\n+def b\n """\n')
    const colours = coloursOf(hunks, 'python', coloured)
    const kinds = hunks[0]?.lines.map((line) => colours.get(line)?.map((one) => one.kind))
    expect(kinds).toEqual([['string'], ['string'], ['string'], ['string']])
  })

  it('knows the language by the name of the file', () => {
    expect(languageOf('/a/b.py')).toBe('python')
    expect(languageOf('web/App.TSX')).toBe('typescript')
    expect(languageOf('Makefile')).toBeNull()
  })
})
