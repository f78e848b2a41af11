import { Empty } from '../parts/Empty'
import { LONGEST_ADDRESS, shorten } from '../parts/shorten'
import { visible } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { text } from './text'

/** What is shown at an address that leads nowhere. */
export function Lost({ path }: { readonly path: string }) {
  return (
    <div className="page">
      <header>
        <h1>{text.lost.title}</h1>
      </header>
      <Empty title={text.lost.what(shorten(visible(path), LONGEST_ADDRESS))}>
        <p>{text.lost.hint}</p>
        <p className="row">
          <Link className="button" to={to.inbox()}>
            {text.lost.inbox}
          </Link>
          <Link className="button" to={to.sessions()}>
            {text.lost.sessions}
          </Link>
        </p>
      </Empty>
    </div>
  )
}
