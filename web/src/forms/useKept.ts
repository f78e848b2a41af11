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

/** Under which name the message that goes with it is kept. */
export function messageOf(key: string): string {
  return `${key}.message`
}

/** Forget what was kept, with its message. */
export function forget(key: string): void {
  for (const one of [key, messageOf(key)]) attempt(() => sessionStorage.removeItem(one))
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
