import { length } from '../parts/times'
import { useNow } from '../parts/useNow'
import { useConnection } from '../server/useConnection'

/** Says so when what is on the screen may no longer be true. */
export function ConnectionBanner() {
  const { status, error, lostAt } = useConnection()
  if (status === 'error') {
    return (
      <div className="banner" role="alert">
        Updates have stopped: {error?.message ?? 'the stream ended.'} Reload the page.
      </div>
    )
  }
  return status === 'disconnected' && lostAt ? <Reconnecting lostAt={lostAt} /> : null
}

function Reconnecting({ lostAt }: { readonly lostAt: number }) {
  const now = useNow()
  return (
    <div className="banner" role="alert">
      Can’t reach the server. Last update {length(Math.max(1000, now - lostAt))} ago, reconnecting …
    </div>
  )
}
