import { expect, describe as group, it } from 'vitest'
import { shareOf } from '../src/usage/share'

group('the share of a budget', () => {
  it('is 100 % only if all of it is spent', () => {
    expect(shareOf(9.96, 10)).toBe(99)
    expect(shareOf(10, 10)).toBe(100)
    expect(shareOf(12.5, 10)).toBe(125)
    expect(shareOf(5, 10)).toBe(50)
    expect(shareOf(1000.001, 1000)).toBe(100)
  })
})
