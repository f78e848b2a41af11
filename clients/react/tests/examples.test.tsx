/** The examples of interactive sessions, run against a real server. */
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { asked } from './asked'
import { Awaited, Consultation, Reactive, Structured } from './examples/interactive'
import { Remembered } from './examples/Remembered'
import { client, page } from './page'

const strict = () => ({ wrapper: page({ strict: true }) })

describe('the examples', () => {
  afterEach(() => localStorage.clear())

  it('await a review', async () => {
    render(<Awaited />, strict())
    fireEvent.click(screen.getByText('Review the changes'))
    const { id } = await asked(
      'Please review the proposed database schema changes and approve or reject them.',
    )
    await client().complete(id, { outcome: 'completed', response: 'approved' })
    await screen.findByText('The migration is done.')
  })

  it.each([
    ['approved', 'Deploying.'],
    ['rejected', 'Not deployed.'],
  ] as const)('look at a review that was %s', async (response, shown) => {
    render(<Reactive />, strict())
    screen.getByText('Waiting for human review...')
    const { id } = await asked('Review the deployment plan')
    await client().complete(id, { outcome: 'completed', response })
    await screen.findByText(shown)
    const again = await client().listInteractions({ status: 'pending' })
    expect(again.filter((one) => one.prompt === 'Review the deployment plan')).toEqual([])
  })

  it('get an object, or an error that says what does not fit', async () => {
    render(<Structured />, strict())
    fireEvent.click(screen.getByText('Audit'))
    const { id } = await asked('Review the security audit findings and provide approval decision.')
    const refused = client().complete(id, { outcome: 'completed', response: { approved: 'yes' } })
    await expect(refused).rejects.toThrow('does not fit')
    await client().complete(id, {
      outcome: 'completed',
      response: { approved: false, notes: 'Rotate the token first.' },
    })
    await screen.findByText('Rejected: Rotate the token first.')
  })

  it('take a question back when it need not be asked any more', async () => {
    const { rerender } = render(<Consultation automatedFixSucceeded={false} />, strict())
    const { id } = await asked(
      'The automated analysis found an unusual pattern. Please investigate.',
    )
    rerender(<Consultation automatedFixSucceeded={true} />)
    await screen.findByText('The diagnosis is cancelled.')
    expect((await client().getInteraction(id)).status).toBe('cancelled')
  })

  it('find their question again', async () => {
    const first = render(<Remembered />, strict())
    fireEvent.click(screen.getByText('Ask'))
    await screen.findByText('It is pending.')
    const { id } = await asked('Which way?')
    await waitFor(() => expect(localStorage.getItem('review')).toBe(id))
    first.unmount()
    render(<Remembered />, strict())
    await client().complete(id, { outcome: 'completed', response: 'left' })
    await screen.findByText('They said left.')
  })
})
