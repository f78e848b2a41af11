import { useRef } from 'react'
import { copyAndSay } from '../parts/clipboard'
import { BASE, to } from '../router/route'
import { text } from './text'

interface Props {
  readonly sessionId: string
  readonly position: number
}

/** Ways to take a session elsewhere: a link, its id, a file. */
export function ShareMenu({ sessionId, position }: Props) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => menu.current?.removeAttribute('open')
  const copy = (value: string) => {
    void copyAndSay(value)
    close()
  }
  const exported = (format: string) =>
    `/sessions/${encodeURIComponent(sessionId)}/export?format=${format}`
  return (
    <details
      ref={menu}
      className="menu"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) close()
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        close()
        menu.current?.querySelector('summary')?.focus()
      }}
    >
      <summary className="button">{text.share.menu}</summary>
      <div className="menu__items">
        <button
          type="button"
          className="menu__item"
          onClick={() => copy(linkTo(sessionId, position))}
        >
          {text.share.link}
        </button>
        <button type="button" className="menu__item" onClick={() => copy(sessionId)}>
          {text.share.id}
        </button>
        <a className="menu__item" href={exported('json')} download onClick={close}>
          {text.share.json}
        </a>
        <a className="menu__item" href={exported('markdown')} download onClick={close}>
          {text.share.markdown}
        </a>
      </div>
    </details>
  )
}

function linkTo(sessionId: string, position: number): string {
  return `${window.location.origin}${BASE}${to.session(sessionId, position)}`
}
