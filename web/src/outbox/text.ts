/** Everything that people read about answers that can still be undone. */
export const text = {
  sending: 'Sending…',
  undo: 'Undo',
  group: 'This question',
  undoKey: 'Undo the last answer',
  notSent: (message: string) => `Your answer was not sent. ${message}`,
} as const
