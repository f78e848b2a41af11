/** Every text of the session page. */
export const text = {
  session: (id: string) => `Session ${id}`,
  header: {
    session: 'Session',
    phase: (phase: string) => `In ${phase}`,
    started: 'Started',
    phases: (progress: string) => `${progress} phases`,
    forkedFrom: 'Forked from',
    at: (position: number | null) => `at ${position}`,
    forks: 'Forks',
    fork: (id: string) => `Fork ${id}`,
    held: 'Held:',
  },
  rename: {
    button: 'Rename',
    group: 'Session',
    label: 'Title',
    placeholder: 'Untitled session',
    save: 'Save',
    cancel: 'Cancel',
  },
} as const
