/** What tests share: a page around a hook, and a door that counts who goes through. */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, StrictMode } from 'react'
import { inject } from 'vitest'
import { createClient } from '../src/client/index'
import { WorkflowClientProvider } from '../src/index'
import { TOKEN } from './serving'

interface PageOptions {
  readonly url?: string
  readonly token?: string
  readonly strict?: boolean
  readonly queries?: QueryClient
}

/** A client of the tests' own, beside the one that is tested. */
export function client(url: string = inject('url')) {
  return createClient({ baseUrl: url, token: TOKEN })
}

/** What stands around a component. */
export function page(options: PageOptions = {}) {
  const queries = options.queries ?? new QueryClient()
  const { url = inject('url'), token = TOKEN, strict = false } = options
  return function Page({ children }: { readonly children: ReactNode }) {
    const inner = (
      <QueryClientProvider client={queries}>
        <WorkflowClientProvider baseUrl={url} token={token}>
          {children}
        </WorkflowClientProvider>
      </QueryClientProvider>
    )
    return strict ? <StrictMode>{inner}</StrictMode> : inner
  }
}

/** Passes connections on, and knows which requests for streams went through. */
export class Door {
  streams = 0
  open = 0
  url = ''
  private readonly sockets = new Set<Socket>()
  private readonly server: Server

  constructor(private readonly port: number) {
    this.server = createServer((near) => this.pass(near))
  }

  async start(): Promise<this> {
    this.server.listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    const address = this.server.address()
    if (!address || typeof address === 'string') throw new Error('The door has no port.')
    this.url = `http://127.0.0.1:${address.port}`
    return this
  }

  /** Cut every connection, as a network would. */
  slam(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  async close(): Promise<void> {
    this.slam()
    this.server.close()
    await once(this.server, 'close')
  }

  private pass(near: Socket): void {
    const far = connect(this.port, '127.0.0.1')
    let isStream = false
    this.sockets.add(near)
    near.on('data', (data: Buffer) => {
      if (!isStream && /accept: text\/event-stream/i.test(data.toString('latin1'))) {
        isStream = true
        this.streams += 1
        this.open += 1
      }
    })
    near.on('close', () => {
      this.sockets.delete(near)
      if (isStream) this.open -= 1
      far.destroy()
    })
    far.on('close', () => near.destroy())
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
    near.pipe(far)
    far.pipe(near)
  }
}
