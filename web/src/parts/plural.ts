/** `1 line`, `1,204 lines`; `many` where it is not the word with an s. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
