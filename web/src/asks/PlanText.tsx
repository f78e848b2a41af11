import { useMemo } from 'react'
import { visible } from '../parts/visible'
import { type Block, blocksOf } from './blocks'

/** A plan as it reads: its headings, lists and code, and everything in them as text. */
export function PlanText({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(visible(text)), [text])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className="plan" aria-label="The plan" tabIndex={0}>
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a plan does not change, its blocks have no names
        <PlanBlock key={index} block={block} />
      ))}
    </section>
  )
}

function PlanBlock({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading':
      return <h3 className={`plan__heading plan__heading--${block.level}`}>{block.text}</h3>
    case 'code':
      return <pre className="plan__code">{block.text}</pre>
    case 'text':
      return <p>{block.text}</p>
    case 'items':
      return (
        <ul className="plan__items">
          {block.items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <li key={index} style={{ marginLeft: `${item.depth * 1.2}rem` }}>
              <span className="plan__mark">{block.ordered ? item.mark : '–'}</span>
              <span>{item.text}</span>
            </li>
          ))}
        </ul>
      )
  }
}
