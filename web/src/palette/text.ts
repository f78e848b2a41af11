/** What a person reads in the command menu. */
export const text = {
  menu: 'Command menu',
  opens: 'Open the command menu',
  placeholder: 'Go to a page, session, question or agent, or run an action',
  results: 'Results',
  loading: 'Loading…',
  none: 'No matches',
  choose: '↑ ↓ to select',
  run: 'Enter to open',
  close: 'Esc to close',
  groups: {
    pages: 'Pages',
    actions: 'Actions',
    inbox: 'Inbox',
    board: 'Board',
    sessions: 'Sessions',
  },
} as const
