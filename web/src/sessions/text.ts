/** Every text of the sessions page. */
export const text = {
  page: {
    title: 'Sessions',
    start: 'Start a session',
    search: 'Search',
    placeholder: 'Search by title, ID, workflow or phase',
    workflow: 'Workflow',
    allWorkflows: 'All workflows',
    status: 'Status',
    all: 'All',
    waiting: 'Needs you',
  },
  keys: {
    group: 'Sessions',
    search: 'Search',
    next: 'Next session',
    previous: 'Previous session',
    open: 'Open session',
  },
  row: {
    fork: 'Fork',
    events: (count: number) => (count === 1 ? '1 event' : `${count.toLocaleString('en')} events`),
    phase: (phase: string) => `In ${phase}`,
  },
  empty: {
    title: 'No sessions yet',
    about:
      'A session is one run of a workflow. It appears here as soon as it starts, with its path, its state and every event.',
    inTerminal: 'Or run a workflow from a terminal:',
    command: 'callboard run FILE',
    noWorkflows: 'This server has no workflows. Restart it with a file to start sessions here:',
    serve: 'callboard serve FILE',
  },
  filtered: {
    title: 'No matching sessions',
    hint: 'Try another search or clear filters.',
    clear: 'Clear filters',
  },
  start: {
    title: 'Start a session',
    noWorkflows: 'This server has no workflows. Restart it with a file:',
    serve: 'callboard serve FILE',
    workflow: 'Workflow',
    sessionTitle: 'Title',
    titleHint: 'Optional. What to call the session in lists.',
    choose: 'Choose…',
    notGiven: 'Not set',
    json: 'JSON',
    cancel: 'Cancel',
    submit: 'Start',
  },
  field: {
    input: 'Input',
    missing: (label: string) => `${label}: required.`,
    json: (label: string) => `${label}: not valid JSON. Text needs quotes: "like this".`,
    number: (label: string, whole: boolean) =>
      `${label}: enter a ${whole ? 'whole number' : 'number'}.`,
  },
} as const
