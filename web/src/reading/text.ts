/** What a person reads while the end of a long question has not been in view. */
export const text = {
  partOnly: "Only part of it is here: allow it in the agent's terminal",
  inTerminal: 'Allow it in the agent’s terminal',
  scroll: (yes: string) => `Scroll to the end to enable ${yes}`,
  jump: 'Jump to end',
  shortcuts: 'This question',
  jumpKey: 'Jump to the end of it',
  showAll: 'Show all',
} as const
