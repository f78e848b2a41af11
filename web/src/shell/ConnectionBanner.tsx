import { length } from '../parts/times'
import { useNow } from '../parts/useNow'
import { useConnection } from '../server/useConnection'
import { text } from './text'

/** Says so when what is on the screen may no longer be true. */
export function ConnectionBanner() {
  const { status, error, lostAt } = useConnection()
  if (status === 'error') {
    return (
      <div className="banner" role="alert">
        {text.connection.stopped(error?.message ?? text.connection.ended)}
      </div>
    )
  }
  return status === 'disconnected' && lostAt ? <Reconnecting lostAt={lostAt} /> : null
}

function Reconnecting({ lostAt }: { readonly lostAt: number }) {
  const now = useNow()
  return (
    <div className="banner" role="alert">
      {text.connection.lost(length(Math.max(1000, now - lostAt)))}
    </div>
  )
}
