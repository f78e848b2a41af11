import { useBoard, useHosts } from '@callboard/react'
import type { Plate, RelayHost } from '../server/types'

/** Whether plates are from more than one machine: only then is it worth saying which. */
export function areOnSeveralHosts(plates: ReadonlyArray<Pick<Plate, 'host'>>): boolean {
  return new Set(plates.map((plate) => plate.host)).size > 1
}

/** The machine of a plate, if that can't be reached now and the plate isn't closed. */
export function unreachableHost(
  plate: Pick<Plate, 'status' | 'host'>,
  hosts: ReadonlyArray<RelayHost>,
): RelayHost | null {
  if (plate.status === 'closed') return null
  return hosts.find((one) => one.id === plate.host && !one.connected) ?? null
}

/** The name of the machine that a plate is on, if that can't be reached now; otherwise null. */
export function useUnreachableHost(plateId: string | null): string | null {
  const { plates } = useBoard()
  const { hosts } = useHosts()
  const plate = plates.find((one) => one.plateId === plateId)
  return plate ? (unreachableHost(plate, hosts)?.name ?? null) : null
}
