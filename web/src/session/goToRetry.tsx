import { say } from '../parts/Toasts'
import { Link } from '../router/Link'
import { navigate } from '../router/navigation'
import { to } from '../router/route'

/** Show the session that a retry started. */
export function goToRetry(failed: string, retried: string): void {
  navigate(to.session(retried))
  say(
    <>
      Retry started. <Link to={to.compare(failed, retried)}>Compare with the failed session</Link>
    </>,
  )
}
