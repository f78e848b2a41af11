/** What a person reads around the pages. */
export const text = {
  pages: {
    inbox: 'Inbox',
    sessions: 'Sessions',
    board: 'Board',
  },
  keys: {
    inbox: 'Go to the inbox',
    sessions: 'Go to the sessions',
    board: 'Go to the board',
  },
  waiting: 'waiting',
  needy: 'waiting for you',
  loading: 'Loading …',
  broke: {
    title: 'This page broke',
    calm: 'Your sessions are not affected: they run on the server.',
  },
  notLoaded: {
    title: 'Reload to continue',
    why: 'Part of the dashboard couldn’t be loaded. Callboard was probably updated while this tab was open, or the server can’t be reached.',
    reload: 'Reload',
  },
} as const
