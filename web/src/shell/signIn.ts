import { CallboardError } from '@callboard/react'

/** The part of an address that says where the server is. */
export interface Place {
  readonly origin: string
  readonly hostname: string
  readonly port: string
}

const DEFAULT_PORT = '2255'

/** Whether the server is on this machine, as far as its address tells. */
export function isHere(place: Place): boolean {
  return /^(localhost|.*\.localhost|127\.0\.0\.1|\[::1\])$/.test(place.hostname)
}

/**
 * The command that signs this browser in. The server tells it to the user who runs it; others
 * get what the address allows to say.
 */
export function signInCommand(error: unknown, place: Place): string {
  const told = error instanceof CallboardError ? error.details.signIn : undefined
  if (typeof told === 'string') return told
  if (!isHere(place)) return `callboard open --server ${place.origin}`
  if (place.port === DEFAULT_PORT) return 'callboard open'
  return `callboard open --server http://127.0.0.1:${place.port}`
}
