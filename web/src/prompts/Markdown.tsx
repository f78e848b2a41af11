import MarkdownIt, { type Token } from 'markdown-it'
import { type ReactNode, useMemo } from 'react'
import { visible } from '../parts/visible'
import { CodeBlock } from './CodeBlock'
import { text as catalogue } from './text'

interface Props {
  readonly text: string
  readonly images: ReadonlyMap<string, string>
  /** The level of its headings, whatever it says itself: the page around has an order of its own. */
  readonly level: 2 | 3
  /** Whether it is one line without blocks. */
  readonly inline?: boolean
}

const LINK = /^(?:https?:\/\/|mailto:)/i
const ATTACHED = /^attached:\d+$/

// No HTML, and lines stay lines. Whatever is not let through stands there as it was written.
const markdown = new MarkdownIt({ html: false, breaks: true, linkify: true })
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false })
markdown.validateLink = (address) => LINK.test(address) || ATTACHED.test(address)

/**
 * Markdown as elements: it is never HTML on the way, so nothing in it can become a script, and
 * text that hides something shows it.
 */
export function Markdown({ text, images, level, inline = false }: Props) {
  return useMemo(() => {
    const tokens = inline ? markdown.parseInline(text, {}) : markdown.parse(text, {})
    return <>{drawn(tokens, { images, heading: `h${level}` })}</>
  }, [text, images, level, inline])
}

interface Drawing {
  readonly images: ReadonlyMap<string, string>
  readonly heading: 'h2' | 'h3'
}

/** Tokens come in a row, with one where an element starts and one where it ends. */
function drawn(tokens: ReadonlyArray<Token>, how: Drawing): ReactNode[] {
  const found: ReactNode[] = []
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at]
    if (!token) break
    if (token.nesting === 1) {
      const end = endOf(tokens, at)
      found.push(element(token, drawn(tokens.slice(at + 1, end), how), at, how))
      at = end
    } else found.push(leaf(token, at, how))
  }
  return found
}

function endOf(tokens: ReadonlyArray<Token>, start: number): number {
  let depth = 0
  for (let at = start; at < tokens.length; at += 1) {
    depth += tokens[at]?.nesting ?? 0
    if (depth === 0) return at
  }
  return tokens.length
}

const PLAIN = { blockquote_open: 'blockquote', em_open: 'em', strong_open: 'strong' } as const
const MORE = { s_open: 's', bullet_list_open: 'ul', list_item_open: 'li' } as const
const TABLE = { thead_open: 'thead', tbody_open: 'tbody', tr_open: 'tr' } as const
const TAGS: Readonly<Record<string, string>> = { ...PLAIN, ...MORE, ...TABLE }

function element(token: Token, children: ReactNode[], key: number, how: Drawing): ReactNode {
  const Tag = TAGS[token.type] as 'ul' | undefined
  if (Tag) return <Tag key={key}>{children}</Tag>
  switch (token.type) {
    case 'paragraph_open':
      return token.hidden ? <span key={key}>{children}</span> : <p key={key}>{children}</p>
    case 'heading_open':
      return (
        <how.heading key={key} className={`md__heading md__heading--${token.tag}`}>
          {children}
        </how.heading>
      )
    case 'ordered_list_open':
      return (
        <ol key={key} start={Number(token.attrGet('start') ?? 1)}>
          {children}
        </ol>
      )
    case 'table_open':
      return <Table key={key}>{children}</Table>
    case 'th_open':
    case 'td_open':
      return <Cell key={key} {...{ token, children }} />
    case 'link_open':
      return <Reference key={key} address={attribute(token, 'href')} {...{ children }} />
    default:
      return children
  }
}

function attribute(token: Token, name: string): string {
  return String(token.attrGet(name) ?? '')
}

function Table({ children }: { readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className="md__table" aria-label={catalogue.table} tabIndex={0}>
      <table>{children}</table>
    </section>
  )
}

function Cell({ token, children }: { readonly token: Token; readonly children: ReactNode }) {
  const align = /text-align:(left|center|right)/.exec(attribute(token, 'style'))?.[1]
  const className = align && `md__cell--${align}`
  if (token.type === 'th_open') return <th {...{ className }}>{children}</th>
  return <td {...{ className }}>{children}</td>
}

function Reference(props: { readonly address: string; readonly children: ReactNode }) {
  const { address, children } = props
  if (!LINK.test(address)) return children
  return (
    <a href={address} title={visible(address)} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

function leaf(token: Token, key: number, how: Drawing): ReactNode {
  switch (token.type) {
    case 'inline':
      return drawn(token.children ?? [], how)
    case 'code_inline':
      return <code key={key}>{visible(token.content)}</code>
    case 'fence':
    case 'code_block':
      return <CodeBlock key={key} text={token.content} info={token.info} />
    case 'hardbreak':
    case 'softbreak':
      return <br key={key} />
    case 'hr':
      return <hr key={key} />
    case 'image':
      return <Picture key={key} {...{ token }} images={how.images} />
    default:
      return visible(token.content)
  }
}

function Picture(props: { readonly token: Token; readonly images: ReadonlyMap<string, string> }) {
  const { token, images } = props
  const source = images.get(attribute(token, 'src'))
  const words = visible(token.content)
  if (source) return <img src={source} alt={words} />
  const why = source === '' ? catalogue.tooLarge : catalogue.notAttached
  return <span className="passage__note">{catalogue.image(words, why)}</span>
}
