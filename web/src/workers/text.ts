/** What a person reads on the page about workers. */
export const text = {
  title: 'Workers',
  intro: 'The processes that drive sessions, on every machine.',
  loading: 'Loading…',
  limited: 'More than 1,000 sessions have work to do; only these are counted.',
  figures: {
    workers: 'Running workers',
    driven: 'Sessions being driven',
    ready: 'Waiting for a worker',
    stranded: 'Stranded',
  },
  worker: {
    process: (pid: number) => `Process ${pid}`,
    alive: 'Running',
    dead: 'Not responding',
    since: 'Started',
    workflows: 'Workflows',
    ownSession: 'Runs its own session; takes no others.',
    idle: 'Idle',
    more: (count: number) => `And ${count.toLocaleString('en')} more.`,
    inPhase: (workflow: string, phase: string) => `${workflow} · ${phase}`,
    notStarted: (workflow: string) => `${workflow} · not started`,
    phaseSince: 'Phase started',
  },
  versions: (workflow: string, versions: ReadonlyArray<string>) =>
    `Running workers have different versions of ${workflow}: ${versions.join(', ')}.`,
  unversioned: 'no version',
  stranded: {
    title: 'Stranded sessions',
    about: 'They have work to do, and no running worker can drive them.',
    more: (count: number) => `And ${count.toLocaleString('en')} more.`,
    since: 'Last event',
  },
  empty: {
    title: 'No workers are running',
    about:
      'A worker is a process that has workflow files and drives their sessions: it runs the agents and continues after each answer. A server that has workflows can be one, too.',
    how: 'Start one in a terminal, with this server’s database:',
  },
} as const
