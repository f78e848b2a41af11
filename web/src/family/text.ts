/** Every text of the pages about forks. */
export const text = {
  forks: {
    title: 'Forks',
    about: 'Every session that shares its first events with',
    choose: 'Select two to compare them.',
    compare: 'Compare',
    chosen: (count: number) => (count === 0 ? 'None selected' : `${count} of 2 selected`),
    select: (id: string) => `Compare ${id}`,
    range: (from: number, to: number) => `from ${from} to ${to}`,
    events: (count: number) => (count === 1 ? '1 event' : `${count.toLocaleString('en')} events`),
    partly: (count: number) =>
      `Showing ${count} of these sessions. Find the others on the sessions page.`,
    alone: 'This session has no forks yet',
    aloneHint:
      'A fork is a new session that starts with the first events of another. To create one, open the session, pick a position and press Fork here.',
    open: 'Open the session',
  },
  compare: {
    title: 'Compare sessions',
    shared: (count: number) =>
      count === 0
        ? 'These sessions have no events in common.'
        : `The first ${count === 1 ? 'event is' : `${count} events are`} shared.`,
    swap: 'Swap',
    changes: 'Final state changes',
    same: 'Both sessions have the same state.',
    session: (id: string) => `Session ${id}`,
    nothing: 'No events of its own.',
    more: (count: number) => `${count} more lines:`,
    open: 'open the session',
  },
} as const
