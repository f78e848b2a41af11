import { ValidationError } from '@callboard/react'
import { expect, describe as group, it } from 'vitest'
import { isWhole, verdictOf } from '../src/inbox/manner'
import { faultOf } from '../src/interactive/useDecision'
import { decisionsOf, holderName, missingOf, wantedOf } from '../src/interactive/wanted'
import { wordsFor } from '../src/interactive/words'
import { isLarge } from '../src/parts/json'
import type { Interaction } from '../src/server/types'

const session = (change: Partial<Interaction>) =>
  ({
    id: 'q',
    type: 'interactive_session',
    status: 'pending',
    response: null,
    config: null,
    error: null,
    ...change,
  }) as Interaction

group('what is wanted', () => {
  const outcome = (outcomeSchema: unknown) =>
    wantedOf(session({ config: { outcomeSchema } }))?.outcome

  it('has four forms, and is open where nobody said', () => {
    expect(outcome({ type: 'approval' })).toEqual({ kind: 'approval' })
    expect(outcome({ type: 'freeform' })).toEqual({ kind: 'freeform' })
    expect(outcome({ type: 'selection', options: ['a', 7, 'b'] })).toEqual({
      kind: 'selection',
      options: ['a', 'b'],
    })
    expect(outcome({ type: 'structured', jsonSchema: { type: 'object' } })).toEqual({
      kind: 'structured',
      schema: { type: 'object' },
    })
    expect(outcome({ type: 'object' })).toEqual({ kind: 'structured', schema: { type: 'object' } })
    for (const nothing of [null, undefined, 'approval', []]) {
      expect(outcome(nothing)).toEqual({ kind: 'open' })
    }
  })

  it('is read from whatever was sent along', () => {
    expect(wantedOf(session({}))).toMatchObject({ model: 'sonnet', context: null, timeout: null })
    const odd = { model: 5, context: 'text', timeout: 'long', requiredParticipants: 'ada' }
    expect(wantedOf(session({ config: odd }))).toMatchObject({
      model: 'sonnet',
      context: null,
      timeout: null,
      participants: [],
    })
    expect(wantedOf({ type: 'approval', config: { model: 'opus' } })).toBeNull()
  })

  it('is decided by each of several people', () => {
    const config = { requiredParticipants: ['ada', 'grace'] }
    const open = session({ config, response: { ada: 'approved', eve: 'rejected' } })
    expect(decisionsOf(open)).toEqual([['ada', 'approved']])
    expect(missingOf(open)).toEqual(['grace'])
    expect(decisionsOf(session({ response: { ada: 'approved' } }))).toEqual([])
  })
})

group('how a session ended', () => {
  const told = (change: Partial<Interaction>) => verdictOf(session(change))

  it('is told in words', () => {
    expect(told({ status: 'completed', response: 'approved' })).toBe('Approved')
    expect(told({ status: 'completed', response: 'rejected' })).toBe('Rejected')
    expect(told({ status: 'completed', response: 'left' })).toBe('“left”')
    expect(told({ status: 'completed', response: { approved: true } })).toBe('Decided')
    expect(told({ status: 'cancelled' })).toBe('Dismissed without a decision')
    expect(told({ status: 'timeout' })).toBe('Timed out')
    expect(told({ status: 'failed', error: 'no agent' })).toBe('Failed: no agent')
  })

  it('names each of several people', () => {
    const config = { requiredParticipants: ['ada', 'grace'] }
    const response = { ada: 'approved', grace: 'rejected' }
    const both = { status: 'completed', config } as const
    expect(told({ ...both, response })).toBe('ada: Approved, grace: Rejected')
    expect(told({ ...both, response: { ada: { days: 3 }, grace: { days: 4 } } })).toBe(
      'Everyone has decided',
    )
  })

  it('is shown whole where it is more than a line', () => {
    expect([{}, [], 'text', 7, null].map(isWhole)).toEqual([true, true, false, false, false])
    expect(wordsFor({ days: 3, why: 'small' })).toBe('days: 3, why: small')
    expect(wordsFor('a\u202eb')).toBe('“a\\u202eb”')
  })
})

group('a refusal of the server', () => {
  it('belongs to the field that it points to', () => {
    const details = { field: 'response', pointer: '/findings/0/risk', reason: 'too high' }
    const error = new ValidationError('response does not fit', 'VALIDATION_ERROR', 400, details)
    expect(faultOf(error)).toEqual({ at: '/findings/0/risk', message: 'too high' })
    const whole = new ValidationError('No.', 'VALIDATION_ERROR', 400, { field: 'response' })
    expect(faultOf(whole)).toEqual({ at: '', message: 'No.' })
  })

  it('of something else is shown elsewhere', () => {
    const error = new ValidationError('Who?', 'VALIDATION_ERROR', 400, { field: 'by' })
    expect(faultOf(error)).toBeNull()
    expect(faultOf(new Error('lost'))).toBeNull()
    expect(faultOf(null)).toBeNull()
  })
})

group('whoever holds a session', () => {
  it('is named, and where', () => {
    expect(holderName('ada (attend 12.34@laptop)')).toBe('ada, in a terminal on laptop,')
    expect(holderName('grace')).toBe('grace')
  })
})

group('a value', () => {
  it('is large when it does not fit a glance, and is not looked through for that', () => {
    expect(isLarge({ a: [1, 2, 3], b: 'text' })).toBe(false)
    expect(isLarge('x'.repeat(5000))).toBe(true)
    expect(isLarge(Array.from({ length: 1000 }, () => 0))).toBe(true)
    const trap = Object.defineProperty({ first: 'x'.repeat(5000) }, 'then', {
      enumerable: true,
      get: () => 'x'.repeat(5000),
    })
    expect(isLarge({ deep: { deeper: trap } })).toBe(true)
  })
})
