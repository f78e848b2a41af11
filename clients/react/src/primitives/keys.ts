/** The keys under which everything stands in the query cache. */
export const keys = {
  session: ['session'] as const,
  sessions: ['sessions'] as const,
  inbox: ['inbox'] as const,
  interaction: ['interaction'] as const,
  board: ['board'] as const,
  plateEvents: ['plate-events'] as const,
  messages: ['messages'] as const,
  hosts: ['hosts'] as const,
  workers: ['workers'] as const,
  workflows: ['workflows'] as const,
  statistics: ['statistics'] as const,
  usage: ['usage'] as const,
  events: (sessionId: string) => ['events', sessionId] as const,
  states: (sessionId: string) => ['state', sessionId] as const,
  state: (sessionId: string, position: number) => ['state', sessionId, position] as const,
}
