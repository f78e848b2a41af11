import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { navigate } from './navigation'
import { BASE } from './route'

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly to: string }

/** A link within the dashboard. A new tab, or a copy of the address, work as for any link. */
export function Link({ to, onClick, ...rest }: Props) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey
    if (!plain || event.altKey || event.defaultPrevented) return
    event.preventDefault()
    navigate(to)
  }
  return <a {...rest} href={BASE + to} onClick={follow} />
}
