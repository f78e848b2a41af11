/** What a person reads when the server refuses an answer. */
export const text = {
  notUsed: (why: string) => `Your answer was not used. ${why}`,
} as const
