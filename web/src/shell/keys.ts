/**
 * The keys of the board, the same as in the terminal: a test compares them with the table in
 * `src/callboard/tui/keys.py`, which the documentation is checked against too.
 */
export const KEYS = {
  next: 'j',
  previous: 'k',
  first: 'g g',
  last: 'G',
  open: 'Enter',
  filter: '/',
  clear: 'Escape',
  sort: 'o',
  closed: 'c',
  yes: 'y',
  no: 'n',
  always: 'a',
  end: 'v',
  pin: 'p',
  rename: 'N',
  seen: 'm',
  dismiss: 'd',
  raw: 'r',
  theme: 'T',
  help: '?',
} as const

/** How many options have a key of their own: 1 to 9. */
export const NUMBERED = 9
