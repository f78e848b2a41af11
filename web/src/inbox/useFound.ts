import { type InteractionFilters, isOpen, useWorkflowClient } from '@callboard/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useSettled } from '../parts/useSettled'
import type { Interaction } from '../server/types'
import type { Filters } from './filters'
import { isFiltered } from './filters'

/**
 * The listed questions and, where the list is not complete, those that the server finds with the
 * filters. It may find more than fits: the page looks at all filters, the server at most of them.
 */
export function useFound(
  listed: ReadonlyArray<Interaction>,
  hasMore: boolean,
  filters: Filters,
): ReadonlyArray<Interaction> {
  const client = useWorkflowClient()
  const sought = useSettled(JSON.stringify(soughtBy(filters)))
  const isSought = hasMore && isFiltered(filters)
  const { data } = useQuery({
    // As a part of the inbox, it is asked for again when the inbox is.
    queryKey: ['inbox', 'found', sought],
    queryFn: ({ signal }) =>
      client.pageInteractions(JSON.parse(sought) as InteractionFilters, null, signal),
    enabled: isSought,
    placeholderData: keepPreviousData,
  })
  return useMemo(() => {
    // What was found before is old as soon as it isn't looked for any more.
    if (!isSought || !data) return listed
    const known = new Set(listed.map(({ id }) => id))
    return [...listed, ...data.interactions.filter((one) => isOpen(one) && !known.has(one.id))]
  }, [listed, isSought, data])
}

/** What the server is asked for. It looks for one text, so that is the longest word. */
export function soughtBy({ q, workflow, type, assigned }: Filters): InteractionFilters {
  const [word] = q.split(/\s+/).sort((a, b) => b.length - a.length)
  return {
    status: 'pending',
    ...(word && { q: word }),
    ...(workflow && { workflow }),
    // Choices come under two names.
    ...(type && type !== 'choice' && { type: type as NonNullable<InteractionFilters['type']> }),
    ...(assigned && { assignedTo: assigned }),
  }
}
