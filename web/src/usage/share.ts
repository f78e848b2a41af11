/** How much of a budget is spent, in percent: 100 or more only if all of it is. */
export function shareOf(spent: number, limit: number): number {
  const share = Math.round((spent / limit) * 100)
  return spent >= limit ? Math.max(100, share) : Math.min(99, share)
}
