import { length } from '../parts/times'
import { useNow } from '../parts/useNow'
import { useConnection } from '../server/live'

/** Says so when what is on the screen may no longer be true. */
export function ConnectionBanner() {
  const { status, error, heard } = useConnection()
  if (status === 'error') {
    return (
      <div className="banner" role="alert">
        Updates have stopped: {error?.message ?? 'the stream ended.'} Reload the page.
      </div>
    )
  }
  return status === 'disconnected' ? <Reconnecting heard={heard} /> : null
}

function Reconnecting({ heard }: { readonly heard: number }) {
  const now = useNow()
  return (
    <div className="banner" role="alert">
      The server does not answer. Last update {length(Math.max(1000, now - heard))} ago,
      reconnecting …
    </div>
  )
}
