import { useBoard, useHosts } from '@callboard/react'
import type { Plate, RelayHost } from '../server/types'

/** Whether plates are from more than one machine: only then is it worth saying which. */
export function areOnSeveralHosts(plates: ReadonlyArray<Pick<Plate, 'host'>>): boolean {
  return new Set(plates.map((plate) => plate.host)).size > 1
}

/** Since when a plate's machine can't be reached; null while it can, and for closed plates. */
export function unreachableSince(
  plate: Pick<Plate, 'status'>,
  host: RelayHost | null,
): string | null {
  return host === null || host.connected || plate.status === 'closed' ? null : host.seenAt
}

/** The name of the machine that a plate is on, if that can't be reached now; otherwise null. */
export function useUnreachableHost(plateId: string | null): string | null {
  const { plates } = useBoard()
  const { hostOf } = useHosts()
  const plate = plates.find((one) => one.plateId === plateId)
  const host = plate ? hostOf(plate.host) : null
  return plate && host && unreachableSince(plate, host) !== null ? host.name : null
}
