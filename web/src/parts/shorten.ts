/** A name that fits its place; one that is cut ends with an ellipsis. */
export function shorten(name: string, most: number): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name
}

/** How much of an address is shown when nothing is there. */
export const LONGEST_ADDRESS = 100
