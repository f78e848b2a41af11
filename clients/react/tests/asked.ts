import { waitFor } from '@testing-library/react'
import { client } from './page'

/** The question with this prompt, as soon as it is asked. */
export async function asked(prompt: string, url?: string) {
  const board = client(url)
  return await waitFor(async () => {
    const open = await board.listInteractions({ status: 'pending' })
    const found = open.find((one) => one.prompt === prompt)
    if (!found) throw new Error(`Nobody asks ${prompt}`)
    return found
  })
}
