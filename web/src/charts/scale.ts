const LOWEST = 8
const HIGHEST = 90

/** Where a duration is in a chart of these, in percent of its height: tenfold is a step up. */
export function heights(durations: ReadonlyArray<number>): (duration: number) => number {
  const logs = durations.map(log)
  const least = Math.min(...logs)
  const most = Math.max(...logs)
  if (!(most > least)) return () => (LOWEST + HIGHEST) / 2
  return (duration) => {
    const place = (log(duration) - least) / (most - least)
    return LOWEST + Math.min(1, Math.max(0, place)) * (HIGHEST - LOWEST)
  }
}

function log(duration: number): number {
  return Math.log10(Math.max(1, duration))
}
