import { version } from 'react'
import { version as drawing } from 'react-dom'
import { expect, it } from 'vitest'

it('runs with React 18', () => {
  expect(version).toMatch(/^18\./)
  expect(drawing).toBe(version)
})
