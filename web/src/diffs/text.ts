import { plural } from '../parts/plural'

/** What a person reads around a diff. */
export const text = {
  diff: (path: string) => `Changes in ${path}`,
  added: (count: number) => `${plural(count, 'line')} added`,
  removed: (count: number) => `${plural(count, 'line')} removed`,
  more: (count: number) => `Show ${plural(count, 'more line')}`,
  line: { kept: '', added: 'added: ', removed: 'removed: ' },
  none: 'No text to compare.',
} as const
