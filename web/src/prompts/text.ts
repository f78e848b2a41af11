/** What a person reads around the text of a question. */
export const text = {
  table: 'Table',
  tooLarge: 'too large to show',
  notAttached: 'only attached images are shown',
  image: (words: string, why: string) => `Image ${words && `“${words}” `}(${why})`,
  showAll: (lines: number) => `Show all ${lines.toLocaleString('en')} lines`,
} as const
