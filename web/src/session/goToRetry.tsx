import { say } from '../parts/Toasts'
import { Link } from '../router/Link'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import { text } from './text'

/** Show the session that a retry started. */
export function goToRetry(failed: string, retried: string): void {
  navigate(to.session(retried))
  say(
    <>
      {text.fork.retried} <Link to={to.compare(failed, retried)}>{text.fork.compareFailed}</Link>
    </>,
  )
}
