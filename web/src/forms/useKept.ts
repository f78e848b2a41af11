import { useCallback, useState } from 'react'

/**
 * Something that a person is writing, kept in this tab: it is still there when they come back
 * from another page, and gone when it was sent.
 */
export function useKept<T>(key: string, initial: () => T) {
  const [value, setValue] = useState<T>(() => found<T>(key) ?? initial())
  const put = useCallback(
    (next: T) => {
      setValue(next)
      attempt(() => sessionStorage.setItem(key, JSON.stringify(next)))
    },
    [key],
  )
  return [value, put] as const
}

/** Forget what was kept. */
export function forget(key: string): void {
  attempt(() => sessionStorage.removeItem(key))
}

function found<T>(key: string): T | null {
  return attempt(() => JSON.parse(sessionStorage.getItem(key) ?? 'null') as T | null) ?? null
}

/** A browser may keep nothing, or have no room. */
function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
