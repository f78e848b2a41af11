import { plural } from '../parts/plural'

/** What a person reads on the pages about workflows. */
export const text = {
  title: 'Workflows',
  all: 'All workflows',
  loading: 'Loading…',
  intro: (days: number) => `How runs went in the last ${plural(days, 'day')}.`,
  limited: 'There are more than 100,000 runs; only the newest are counted.',
  columns: {
    workflow: 'Workflow',
    runs: 'Runs',
    success: 'Success',
    duration: 'Duration (p50)',
    tokens: 'Tokens',
    perDay: 'Runs per day',
  },
  none: '–',
  empty: {
    title: 'No workflows yet',
    about:
      'A workflow is a Python file with phases. This page shows how each one performs: runs, success rate, durations and failures.',
    serve: 'To run workflows on this server, restart it with a file:',
    command: 'callboard serve FILE',
  },
  start: 'Start a session',
  facts: {
    label: 'Numbers',
    runs: 'Runs',
    active: (count: number) => `${count.toLocaleString('en')} active`,
    success: 'Success rate',
    failed: (count: number) => `${count.toLocaleString('en')} failed`,
    duration: 'Duration',
    p50: 'Median (p50)',
    p95: (took: string) => `p95 ${took}`,
    people: 'Time to answer',
    answers: (count: number) => plural(count, 'answer'),
    tokens: 'Tokens',
    inOut: (input: string, output: string) => `${input} in, ${output} out`,
    noTokens: 'Not reported by agents',
  },
  charts: { runs: 'Runs per day', durations: 'Durations', latest: 'Newest runs' },
  phases: {
    title: 'Phases',
    label: (workflow: string, phases: ReadonlyArray<string>) => `${workflow}: ${phases.join(', ')}`,
    person: 'Person',
    missing: 'This server doesn’t have this workflow’s file, so it can’t show its phases.',
  },
  recent: {
    title: 'Recent sessions',
    all: 'All sessions',
    calm: 'No sessions yet.',
  },
  failure: {
    title: 'Last failure',
    open: 'Open session',
    phase: (phase: string) => `Failed in ${phase}`,
    traceback: 'Traceback',
  },
} as const
