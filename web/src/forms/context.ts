import { createContext, useContext } from 'react'
import type { Fault } from './reading'

/** What all fields of one form share. */
export interface FormState {
  /** What the ids of its fields start with. */
  readonly prefix: string
  readonly faults: ReadonlyArray<Fault>
}

export const FormContext = createContext<FormState>({ prefix: '', faults: [] })

/** The ids of a field, and what is wrong with it. */
export function useField(at: string, hasParts = false) {
  const { prefix, faults } = useContext(FormContext)
  const id = idOf(prefix, at)
  const own = faults.filter((one) => one.at === at || (!hasParts && one.at.startsWith(`${at}/`)))
  const fault = own[0]?.message ?? null
  return { id, fault, hintId: `${id}-hint`, faultId: `${id}-fault` }
}

/** The id of the field at a place. Spaces would make two ids of one. */
function idOf(prefix: string, at: string): string {
  return `${prefix}${encodeURIComponent(at)}`
}

const CONTROLS = 'input, select, textarea, button'

/** Lead a person to the field at a place. */
export function focusField(prefix: string, at: string): void {
  const found = document.getElementById(idOf(prefix, at))
  const control = found?.matches(CONTROLS) ? found : found?.querySelector<HTMLElement>(CONTROLS)
  control?.focus()
}
