// Joiners only shape letters and emoji, and some scripts cannot be written without them.
const UNSEEN = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Text that may come from anywhere, with nothing hidden in it: a command must not look like
 * another one because a character in it turns the line around.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped)
}

function escaped(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16)
  if (code.length <= 2) return `\\x${code.padStart(2, '0')}`
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}

/** A name or a path from anywhere, on one line. */
export function onOneLine(text: string): string {
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

/** The first line of a text that may come from anywhere. */
export function firstLine(text: string): string {
  return visible(text.trimStart().split('\n', 1)[0] ?? '')
}
