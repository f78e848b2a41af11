import { plural } from '../parts/plural'

/** What a person reads in charts. */
export const text = {
  table: 'Show as a table',
  day: 'Day',
  inWords: (column: string, values: ReadonlyArray<string>) => `${column}: ${values.join(', ')}`,
  outcomes: {
    completed: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
    active: 'Active',
  },
  runs: {
    summary: (runs: number, days: number) =>
      `${plural(runs, 'run')} in the last ${plural(days, 'day')}`,
    count: (count: number, outcome: string) =>
      `${count.toLocaleString('en')} ${outcome.toLowerCase()}`,
    none: 'no runs',
    most: (count: number) => count.toLocaleString('en'),
  },
  durations: {
    summary: (count: number) =>
      `How long the last ${plural(count, 'run')} took, newest on the right`,
    run: (session: string, outcome: string, took: string) => `${session}: ${outcome}, ${took}`,
    p50: (took: string) => `p50 ${took}`,
    p95: (took: string) => `p95 ${took}`,
  },
} as const
