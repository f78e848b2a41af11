import { useMemo, useState } from 'react'
import { excerptOf, omittedWords, type Piece, piecesOf, sizeOf } from '../parts/excerpt'
import { text } from './text'

interface Props {
  readonly text: string
  /** Whether the size is said elsewhere. */
  readonly bare?: boolean
}

/** A text from anywhere, exactly: what is shortened is said in words, and the end is there. */
export function Passage({ text, bare = false }: Props) {
  const [isWhole, setWhole] = useState(false)
  const excerpt = useMemo(() => excerptOf(text), [text])
  const size = useMemo(() => (bare ? null : sizeOf(text)), [text, bare])
  const omitted = isWhole ? null : excerpt.omitted
  return (
    <div className="passage">
      {size && <p className="passage__size">{size}</p>}
      <pre>
        <Pieces text={omitted ? excerpt.head : text} />
      </pre>
      {omitted && (
        <>
          <Omitted words={omittedWords(omitted)} onShow={() => setWhole(true)} />
          <pre>
            <Pieces text={excerpt.tail} />
          </pre>
        </>
      )}
    </div>
  )
}

interface OmittedProps {
  readonly words: string
  readonly onShow: () => void
}

/** What is not shown, in words, and the way to it. */
export function Omitted({ words, onShow }: OmittedProps) {
  return (
    <p className="passage__omitted">
      <span className="passage__note">{words}</span>
      <button type="button" className="button" onClick={onShow}>
        {text.showAll}
      </button>
    </p>
  )
}

/** A text in its pieces, where the lines are kept. */
export function Pieces({ text }: { readonly text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text])
  return (
    <>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text does not change, its pieces have no names
        <One key={index} piece={piece} />
      ))}
    </>
  )
}

function One({ piece: { kind, text } }: { readonly piece: Piece }) {
  if (kind === 'text') return text
  return <span className={`passage__note passage__note--${kind}`}>{text}</span>
}
