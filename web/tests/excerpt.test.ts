import { expect, describe as group, it } from 'vitest'
import { excerptOf, lineCount, omittedWords, piecesOf, sizeOf } from '../src/parts/excerpt'

const shown = (text: string) =>
  piecesOf(text).map(({ kind, text: told }) => (kind === 'text' ? told : `<${told}>`))

group('a text in pieces', () => {
  it.each([
    ['ls -la', ['ls -la']],
    ['a\n\n\nb', ['a\n\n\nb']],
    ['a\n\n\n\nb', ['a', '<⋯ 3 blank lines ⋯>', 'b']],
    [`ls -la${'\n'.repeat(300)}; curl evil`, ['ls -la', '<⋯ 299 blank lines ⋯>', '; curl evil']],
    [`a${'\r\n'.repeat(5)}b`, ['a', '<⋯ 4 blank lines ⋯>', 'b']],
    [`a\n${' \t\u00a0\u3000\u2800\n'.repeat(4)}b`, ['a', '<⋯ 4 blank lines ⋯>', 'b']],
    [`a\n${'\u2028\u2029\v\f\r'.repeat(2)}b`, ['a', '<⋯ 10 blank lines ⋯>', 'b']],
    [`${'\n'.repeat(4)}b`, ['<⋯ 4 blank lines ⋯>', 'b']],
    [`a${'\n'.repeat(5)}`, ['a', '<⋯ 4 blank lines ⋯>']],
    [`a${' '.repeat(12_000)}; b`, ['a', '<⋯ 12,000 spaces ⋯>', '; b']],
    // Characters that are shown are no blank lines, and one line stays one line.
    ['a\u2028b\u202e', ['a\\u2028b\\u202e']],
    ['a\n\u202e\n\u202e\n\u202e\nb', ['a\n\\u202e\n\\u202e\n\\u202e\nb']],
    ['', []],
  ])('%j', (text, pieces) => {
    expect(shown(text)).toEqual(pieces)
  })

  it('keeps every line that says something, in order, and its end last', () => {
    const random = seeded(13)
    const parts = [
      '\n',
      '\n',
      '\r\n',
      '\u2028',
      ' ',
      '\t',
      '\u3000',
      'word',
      '; curl evil',
      '\u202e',
    ]
    for (let round = 0; round < 2000; round += 1) {
      const text = Array.from({ length: 60 }, () => parts[random(parts.length)]).join('')
      const pieces = piecesOf(text)
      const told = pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('\n')
      expect(wordsIn(told)).toEqual(wordsIn(text))
      expect(told).not.toMatch(/\n[ \t\u3000]*\n[ \t\u3000]*\n[ \t\u3000]*\n[ \t\u3000]*\n/)
      const last = pieces.at(-1)
      if (/[a-z]$/.test(text)) expect(last?.text).toMatch(/[a-z]$/)
    }
  })

  it('stays quick, whatever a text consists of', () => {
    for (const unit of [' ', '\n', ' \n', 'a', '\u202e', 'a \u2028', '\t\t\t\u3000']) {
      const text = unit.repeat(Math.ceil(200_000 / unit.length))
      expect(piecesOf(text).length).toBeGreaterThan(0)
    }
  })
})

group('the beginning and the end of a text', () => {
  it('are all of it while it is not long', () => {
    expect(excerptOf('a\nb')).toEqual({ head: 'a\nb', omitted: null, tail: '' })
    for (const filler of ['\n', ' ', '\u3000\r\n']) {
      const text = `ls${filler.repeat(40_000)}; curl evil`
      expect(excerptOf(text)).toEqual({ head: text, omitted: null, tail: '' })
    }
  })

  it('are told apart by what is between them', () => {
    const text = `${Array.from({ length: 30_000 }, (_, at) => `line ${at}`).join('\n')}\n; curl evil`
    const { head, omitted, tail } = excerptOf(text)
    if (!omitted) throw new Error('nothing is left out')
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
    expect(head.length + omitted.characters + tail.length).toBe(text.length)
    expect(lineCount(head) + omitted.lines + lineCount(tail)).toBe(lineCount(text))
    expect(tail).toMatch(/; curl evil$/)
    expect(omittedWords(omitted)).toMatch(/^⋯ 29,\d{3} lines, \d{3},\d{3} characters not shown ⋯$/)
  })

  it('are of one line too, and of no half characters', () => {
    const text = `echo ${'👩'.repeat(20_000)}; curl evil`
    const { head, omitted, tail } = excerptOf(text)
    expect(omitted?.lines).toBe(1)
    expect(head + tail).not.toMatch(/\p{Cs}/u)
    expect(tail).toMatch(/; curl evil$/)
    expect(omitted && omittedWords(omitted)).toMatch(/^⋯ \d\d,\d{3} characters not shown ⋯$/)
  })
})

group('the size of a text', () => {
  it.each([
    ['ls', null],
    ['a\nb', '2 lines, 3 bytes'],
    ['é\n'.repeat(2000), '2,000 lines, 6.0 KB'],
    ['x'.repeat(30_000), '1 line, 30.0 KB'],
    ['x\n'.repeat(600_000), '600,000 lines, 1.2 MB'],
  ])('%#', (text, size) => {
    expect(sizeOf(text)).toBe(size)
  })
})

function wordsIn(text: string): string[] {
  return text.match(/word|; curl evil/g) ?? []
}

/** Numbers below a limit, the same each time. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}
