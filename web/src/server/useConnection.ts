import { useInbox } from '@callboard/react'
import { useRef } from 'react'

/** How the connection to the server stands, and since when nothing was heard of it. */
export function useConnection() {
  const { status, error } = useInbox()
  const lost = useRef<number | null>(null)
  if (status === 'connected') lost.current = null
  else lost.current ??= Date.now()
  return { status, error, lostAt: lost.current }
}
