/** What a person reads when starting a coding agent. */
export const text = {
  open: 'Start an agent',
  title: 'Start an agent',
  agent: 'Agent',
  folder: 'Folder',
  folderHint: 'An absolute path on the machine that the agent runs on.',
  host: 'Machine',
  ownHost: 'This server',
  notAllowed: (name: string) => `${name} (doesn’t allow starting agents)`,
  away: (name: string) => `${name} (unreachable)`,
  prompt: 'Prompt (optional)',
  background: {
    before: 'The agent runs in the background. ',
    command: 'callboard attach',
    after: ' opens it in a terminal.',
  },
  cancel: 'Cancel',
  start: 'Start',
  starting: 'Starting…',
  resume: 'Resume session',
  resuming: 'Resuming…',
} as const
