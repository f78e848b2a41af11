import type { WorkerInfo } from '@callboard/react'

/** The workflows of which running workers have different versions, each with those versions. */
export function mixedVersions(
  workers: ReadonlyArray<WorkerInfo>,
  unversioned: string,
): ReadonlyArray<{ readonly name: string; readonly versions: ReadonlyArray<string> }> {
  const found = new Map<string, Set<string>>()
  for (const { alive, workflows } of workers) {
    for (const { name, version } of alive ? workflows : []) {
      found.set(name, (found.get(name) ?? new Set()).add(version ?? unversioned))
    }
  }
  return [...found]
    .filter(([, versions]) => versions.size > 1)
    .map(([name, versions]) => ({ name, versions: [...versions].sort() }))
}
