import { useEffect, useState } from 'react'

const QUIET_MS = 120

/**
 * What was written, once nothing more is written for a moment: a search through all sessions is
 * work for the server, and what it finds for half a word is of no use.
 */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), QUIET_MS)
    return () => window.clearTimeout(timer)
  }, [text])
  // An empty field means the whole list, and that is quick.
  return text === '' ? '' : settled
}
