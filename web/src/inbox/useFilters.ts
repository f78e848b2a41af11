import { navigate, useParameter } from '../router/navigation'
import { to } from '../router/route'
import type { Filters, Grouping } from './filters'

export interface Filtering {
  readonly filters: Filters
  readonly grouping: Grouping
  readonly set: Readonly<Record<keyof Filters | 'group', (value: string | null) => void>>
  /** What is looked for, as in the address. */
  readonly search: string
}

const GROUPINGS: ReadonlyArray<string> = ['workflow', 'session', 'type']

/** What is looked for in the inbox. It is part of the address, so it can be shared. */
export function useFilters(): Filtering {
  const [q, setQ] = useParameter('q')
  const [workflow, setWorkflow] = useParameter('workflow')
  const [type, setType] = useParameter('type')
  const [assigned, setAssigned] = useParameter('assigned')
  const [from, setFrom] = useParameter('from')
  const [group, setGroup] = useParameter('group')
  const grouping = (GROUPINGS.includes(group ?? '') ? group : '') as Grouping
  const filters = {
    q: q ?? '',
    workflow: workflow ?? '',
    type: type ?? '',
    assigned: assigned ?? '',
    from: from ?? '',
  }
  return {
    filters,
    grouping,
    set: {
      q: setQ,
      workflow: setWorkflow,
      type: setType,
      assigned: setAssigned,
      from: setFrom,
      group: setGroup,
    },
    search: searchOf({ ...filters, group: grouping }),
  }
}

function searchOf(given: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(given).filter(([, value]) => value))
  parameters.sort()
  return parameters.toString()
}

/** The address of a question in the inbox, which keeps what is looked for there. */
export function inboxAddress(question: string | null, search?: string): string {
  const query = search ?? window.location.search.slice(1)
  return to.inbox(question ?? undefined) + (query ? `?${query}` : '')
}

/** Look for nothing any more. */
export function clearFilters(): void {
  navigate(inboxAddress(null, ''), { replace: true })
}
