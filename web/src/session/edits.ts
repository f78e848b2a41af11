import { differences } from '../parts/differences'
import type { Edit } from '../server/types'

/** The JSON Patch that makes one state into another. */
export function editsBetween(before: unknown, after: unknown): Edit[] {
  const found = differences(before, after, Number.POSITIVE_INFINITY)
  const removed = found.filter((one) => one.kind === 'removed').reverse()
  const rest = found.filter((one) => one.kind !== 'removed')
  return [
    ...rest.map(
      ({ kind, path, after: value }): Edit => ({
        op: kind === 'added' ? 'add' : 'replace',
        path,
        value,
      }),
    ),
    // From the end, so that the places of an array that are still to go stay where they were.
    ...removed.map(({ path }): Edit => ({ op: 'remove', path })),
  ]
}
