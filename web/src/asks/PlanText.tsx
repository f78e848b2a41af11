import { useMemo, useState } from 'react'
import { excerptOf, omittedWords, sizeOf } from '../parts/excerpt'
import { visible } from '../parts/visible'
import { Omitted, Passage, Pieces } from '../reading/Passage'
import { ReadBox } from '../reading/ReadBox'
import { type Block, blocksOf } from './blocks'
import { text as words } from './text'

/** A plan as it reads: its headings, lists and code, and everything in them as text. */
export function PlanText({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false)
  const excerpt = useMemo(() => excerptOf(text), [text])
  const size = useMemo(() => sizeOf(text), [text])
  const omitted = isWhole ? null : excerpt.omitted
  return (
    <ReadBox label={words.plan} className="plan">
      {size && <p className="passage__size">{size}</p>}
      <Blocks text={omitted ? excerpt.head : text} />
      {omitted && (
        <>
          <Omitted words={omittedWords(omitted)} onShow={() => setWhole(true)} />
          <Blocks text={excerpt.tail} />
        </>
      )}
    </ReadBox>
  )
}

function Blocks({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return blocks.map((block, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a plan does not change, its blocks have no names
    <PlanBlock key={index} block={block} />
  ))
}

function PlanBlock({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading':
      return (
        <h3 className={`plan__heading plan__heading--${block.level}`}>
          <Pieces text={block.text} />
        </h3>
      )
    case 'code':
      return (
        <div className="plan__code">
          {block.info && <p className="passage__size">{visible(block.info)}</p>}
          <Passage bare text={block.text} />
        </div>
      )
    case 'blank':
      return <p className="passage__note">{block.text}</p>
    case 'text':
      return (
        <p>
          <Pieces text={block.text} />
        </p>
      )
    case 'items':
      return (
        <ul className="plan__items">
          {block.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <li key={index} style={{ marginLeft: `${item.depth * 1.2}rem` }}>
              <span className="plan__mark">{block.ordered ? item.mark : '–'}</span>
              <span>
                <Pieces text={item.text} />
              </span>
            </li>
          ))}
        </ul>
      )
  }
}
