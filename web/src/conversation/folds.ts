import { createContext, useCallback, useContext, useState } from 'react'

/**
 * What was opened: kept outside of the messages, because one that is scrolled out of view is
 * taken out of the page.
 */
export const FoldsContext = createContext<Map<string, boolean>>(new Map())

/** Whether something is open, and a function that opens or closes it. */
export function useFold(id: string, isOpenFirst = false): [boolean, () => void] {
  const folds = useContext(FoldsContext)
  const [isOpen, setOpen] = useState(folds.get(id) ?? isOpenFirst)
  const toggle = useCallback(() => {
    setOpen((before) => {
      folds.set(id, !before)
      return !before
    })
  }, [folds, id])
  return [isOpen, toggle]
}
