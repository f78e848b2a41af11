import { createContext, useContext } from 'react'

/** Which conversation a message is in. */
export interface Place {
  readonly plateId: string
  readonly subagent?: string | undefined
  /** Where the agent works: paths in it are shown from there. */
  readonly folder?: string | undefined
  readonly cursorOf: (itemId: string) => string | null
}

export const PlaceContext = createContext<Place>({ plateId: '', cursorOf: () => null })

/** The conversation around. */
export function usePlace(): Place {
  return useContext(PlaceContext)
}
