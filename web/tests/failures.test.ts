import { expect, it } from 'vitest'
import { failedAt, failedPhase, tracebackOf } from '../src/session/failures'
import { eventsOf } from './events'

const entered = (phase: string) => ['phase:entered', { phase }] as const

it('retries from before the last visit of the failed phase', () => {
  const visits = eventsOf(['workflow:started'], entered('a'), entered('b'), entered('a'))
  expect(failedAt(visits, 'a')).toBe(3)
  expect(failedAt(visits, 'b')).toBe(2)
})

it('retries from the end where no phase was entered', () => {
  expect(failedAt(eventsOf(['workflow:started'], ['workflow:failed']), null)).toBe(2)
  expect(failedAt([], 'a')).toBe(1)
})

it('names the phase that the error names, else the last one', () => {
  const error = { code: 'AGENT_ERROR', message: 'No ink.' }
  expect(failedPhase({ error: { ...error, phase: 'print' }, phase: 'end' })).toBe('print')
  expect(failedPhase({ error, phase: 'print' })).toBe('print')
})

it('shows a traceback only if there is one', () => {
  expect(tracebackOf({ message: 'No ink.' })).toBeNull()
  expect(tracebackOf({ traceback: '\n' })).toBeNull()
  expect(tracebackOf({ traceback: 'Traceback …' })).toBe('Traceback …')
})
