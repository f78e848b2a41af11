import { useMemo } from 'react'
import { piecesOf } from '../parts/excerpt'
import { visible } from '../parts/visible'
import { Passage } from '../reading/Passage'
import { coloured } from './highlight'

interface Props {
  readonly text: string
  /** What stands behind the fence: the language, and perhaps more. */
  readonly info: string
}

/** Code in colours, a diff as a diff, and anything else as it is. */
export function CodeBlock({ text, info }: Props) {
  const code = text.replace(/\n$/, '')
  const language = info.trim().split(/\s+/)[0]?.toLowerCase() ?? ''
  if (language === 'diff' || language === 'patch') return <Diff text={code} />
  return (
    <div className="md__code">
      {info.trim() && <p className="md__language">{visible(info.trim())}</p>}
      <Code code={code} language={language} />
    </div>
  )
}

function Code({ code, language }: { readonly code: string; readonly language: string }) {
  const stretches = useMemo(() => {
    // What would be told in words, such as many blank lines, is told without colours.
    const isPlain = piecesOf(code).every((piece) => piece.kind === 'text')
    return isPlain ? coloured(code, language) : null
  }, [code, language])
  if (!stretches) return <Passage bare text={code} />
  return (
    <pre>
      {stretches.map(({ kind, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a prompt does not change, its parts have no names
        <span key={index} className={kind ? `code--${kind}` : undefined}>
          {visible(text)}
        </span>
      ))}
    </pre>
  )
}

const LINES = {
  '+': { look: 'is-added', word: 'added: ' },
  '-': { look: 'is-removed', word: 'removed: ' },
  '@': { look: 'is-hunk', word: '' },
} as const
const KEPT = { look: 'is-kept', word: '' }
/** Names of files, before the first line of each part. */
const FILE = /^(?:\+\+\+|---|diff |index )/

function Diff({ text }: { readonly text: string }) {
  return (
    <ol className="textdiff md__diff">
      {text.split('\n').map((line, index) => {
        const sign = line[0] ?? ' '
        const isFile = FILE.test(line)
        const { look, word } = isFile
          ? { look: 'is-hunk', word: '' }
          : (LINES[sign as keyof typeof LINES] ?? KEPT)
        const isSigned = look !== 'is-hunk'
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <li key={index} className={look}>
            <span aria-hidden="true">{isSigned ? sign : ' '}</span>
            <span className="hidden">{word}</span>
            <div className="textdiff__text">
              <Passage bare text={isSigned ? line.slice(1) : line} />
            </div>
          </li>
        )
      })}
    </ol>
  )
}
