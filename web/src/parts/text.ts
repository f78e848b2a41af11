import { plural } from './plural'

/** What a person reads in the parts that pages are made of. */
export const text = {
  agents: {
    claude: 'Claude Code',
    codex: 'Codex',
    gemini: 'Gemini CLI',
    opencode: 'opencode',
    acp: 'ACP agent',
  },
  anAgent: 'An agent',
  message: 'Message (optional)',
  clipboard: {
    copied: 'Copied to the clipboard.',
    notCopied: 'Can’t copy: the browser blocked access to the clipboard.',
  },
  command: { copy: 'Copy', copied: 'Copied' },
  retry: 'Try again',
  dismiss: 'Dismiss',
  problems: {
    unreachable: 'Can’t reach the server.',
    noSession: 'Session not found.',
    forbidden: 'Not allowed.',
    conflict: 'Already answered.',
    other: 'Something went wrong.',
  },
  statuses: {
    pending: 'Not started',
    running: 'Running',
    waiting: 'Needs you',
    paused: 'Paused',
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
  },
  changes: {
    none: 'No changes.',
    kinds: { added: 'added', removed: 'removed', changed: 'changed' },
    everything: 'all',
    first: (most: number) => `Only the first ${most} changes are shown.`,
    nothing: 'nothing',
  },
  diff: { kept: '', added: 'added: ', removed: 'removed: ' },
  tree: {
    open: (label: string) => `Open ${label}`,
    close: (label: string) => `Close ${label}`,
    showAll: (characters: number) => `Show all ${plural(characters, 'character')}`,
  },
  excerpt: {
    blankLines: (count: number) => `⋯ ${plural(count, 'blank line')} ⋯`,
    spaces: (count: number) => `⋯ ${plural(count, 'space')} ⋯`,
    notShown: (lines: number, characters: number) =>
      lines > 1
        ? `⋯ ${plural(lines, 'line')}, ${plural(characters, 'character')} not shown ⋯`
        : `⋯ ${plural(characters, 'character')} not shown ⋯`,
    size: (lines: number, size: string) => `${plural(lines, 'line')}, ${size}`,
    bytes: (count: number) => plural(count, 'byte'),
  },
  times: {
    now: 'just now',
    ago: (length: string) => `${length} ago`,
    in: (length: string) => `in ${length}`,
  },
} as const
