/** Members of an input as they are edited: text as it is, anything else as JSON. */
export type Drafts = Readonly<Record<string, string>>

type Input = Readonly<Record<string, unknown>>

/** One member that differs. An empty text stands for one that is missing. */
export interface Difference {
  readonly key: string
  readonly before: string
  readonly after: string
}

/** The members of an input as texts. */
export function draftsOf(input: Input): Drafts {
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, written(value)]))
}

/** What drafts stand for; `wrong` is the member that isn't valid JSON. */
export interface Edited {
  readonly input: Input
  readonly wrong: string | null
}

/** The input that drafts stand for. */
export function inputOf(original: Input, drafts: Drafts): Edited {
  const input: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(original)) {
    const draft = drafts[key] ?? ''
    if (typeof value === 'string') {
      input[key] = draft
      continue
    }
    try {
      input[key] = JSON.parse(draft)
    } catch {
      return { input: original, wrong: key }
    }
  }
  return { input, wrong: null }
}

/** What differs between two inputs, in the order of the first. */
export function differences(original: Input, edited: Input): ReadonlyArray<Difference> {
  const keys = [...new Set([...Object.keys(original), ...Object.keys(edited)])]
  return keys
    .map((key) => ({ key, before: textOf(original, key), after: textOf(edited, key) }))
    .filter(({ before, after }) => before !== after)
}

function textOf(input: Input, key: string): string {
  return key in input ? written(input[key]) : ''
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '')
}
