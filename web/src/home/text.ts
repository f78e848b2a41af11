import { plural } from '../parts/plural'

/** What a person reads on the home page. */
export const text = {
  title: 'Home',
  start: 'Start a session',
  loading: 'Loading…',
  needs: {
    title: 'Needs you',
    calm: 'Nothing needs you right now.',
    all: (count: number) => `All ${count.toLocaleString('en')}`,
    inbox: 'Inbox',
    answer: 'Answer',
    open: 'Open',
  },
  running: {
    title: 'Running',
    calm: 'Nothing is running.',
    all: 'All running',
    phase: (workflow: string, phase: string) => `${workflow} · in ${phase}`,
    started: (workflow: string) => `${workflow} · started`,
  },
  failed: {
    title: 'Failed recently',
    calm: 'No recent failures.',
    all: 'All failed',
    retry: 'Retry',
    retryOf: (session: string) => `Retry ${session}`,
  },
  runs: {
    title: 'Runs',
    days: (days: number) => `Last ${plural(days, 'day')}`,
    workflows: 'By workflow',
  },
  empty: {
    title: 'Welcome to Callboard',
    about:
      'Workflows pause here for people, and coding agents ask here for permission. Set up either one to get started.',
    workflow: {
      title: 'Run a workflow',
      about:
        'A workflow is a Python file. It runs on this server, survives restarts, and asks you when it needs a decision.',
      command: 'callboard run FILE',
      choose: 'This server already has workflows you can start:',
    },
    agents: {
      title: 'Connect your coding agents',
      about:
        'See every Claude Code, Codex, Gemini CLI and opencode session on one board, and answer them from here. On the machine they run on:',
      command: 'callboard hooks install',
    },
  },
} as const
