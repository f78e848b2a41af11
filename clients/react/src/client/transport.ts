import { CallboardError, errorOf, ServerFailed, ServerUnreachable } from './errors.js'
import type { Failure } from './wire.js'

/** How to reach a server. */
export interface ClientOptions {
  /** Where the server is, such as `http://127.0.0.1:2255`; a path in it is kept. */
  readonly baseUrl: string
  /** A token, or what gives one. Without it the browser's cookie counts, on the same origin. */
  readonly token?: string | (() => string | Promise<string>) | undefined
  /** A `fetch` of your own. */
  readonly fetch?: typeof fetch | undefined
  /** After how many milliseconds a request is given up; streams are not meant. */
  readonly timeoutMs?: number | undefined
}

type Query = Readonly<Record<string, string | number | undefined | null>>

interface Asked {
  readonly query?: Query | undefined
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

const TIMEOUT_MS = 30_000
/** How long to wait before sending something again that the server does once. */
const AGAIN_MS: ReadonlyArray<number> = [200, 1_000]

/** Sends requests; returns the body of the response, or raises its error. */
export class Transport {
  readonly baseUrl: string

  constructor(private readonly options: ClientOptions) {
    this.baseUrl = options.baseUrl.replace(/\/+$/, '')
  }

  /** Ask for something. */
  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
    return this.json('GET', path, { query, signal })
  }

  /** Do something. */
  post<T>(path: string, body: unknown = {}, signal?: AbortSignal): Promise<T> {
    return this.json('POST', path, { body, signal })
  }

  /** Do something that the server does once for its key, and send it until there is a reply. */
  async postOnce<T>(path: string, body: { readonly key: string }): Promise<T> {
    for (const wait of AGAIN_MS) {
      try {
        return await this.post<T>(path, body)
      } catch (error) {
        if (!(error instanceof ServerUnreachable)) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
    return this.post<T>(path, body)
  }

  /** Set something. */
  put<T>(path: string, body: unknown): Promise<T> {
    return this.json('PUT', path, { body })
  }

  /** Change something. */
  patch<T>(path: string, body: unknown): Promise<T> {
    return this.json('PATCH', path, { body })
  }

  /** Remove something. */
  delete<T>(path: string): Promise<T> {
    return this.json('DELETE', path, {})
  }

  /** Open a stream of events; the answer's body is left to the caller. */
  async open(path: string, query: Query, after: string, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { Accept: 'text/event-stream' }
    if (after !== '') headers['Last-Event-ID'] = after
    return this.checked(await this.send('GET', path, { query, signal }, headers))
  }

  /** A document, to be read as it comes. */
  async download(path: string, query: Query, signal?: AbortSignal): Promise<Response> {
    return this.checked(await this.send('GET', path, { query, signal }, {}))
  }

  private async json<T>(method: string, path: string, asked: Asked): Promise<T> {
    const limit = AbortSignal.timeout(this.options.timeoutMs ?? TIMEOUT_MS)
    const signal = asked.signal ? AbortSignal.any([asked.signal, limit]) : limit
    const headers: Record<string, string> = { Accept: 'application/json' }
    const answer = await this.send(method, path, { ...asked, signal }, headers)
    const checked = await this.checked(answer)
    try {
      return (await checked.json()) as T
    } catch (error) {
      if (asked.signal?.aborted) throw error
      throw new ServerFailed(
        `${method} ${path} was answered by something that isn't a Callboard server.`,
        'INTERNAL_ERROR',
        checked.status,
      )
    }
  }

  private async send(
    method: string,
    path: string,
    asked: Asked,
    headers: Record<string, string>,
  ): Promise<Response> {
    const { token } = this.options
    const given = typeof token === 'function' ? await token() : token
    if (given) headers.Authorization = `Bearer ${given}`
    const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' }
    if (asked.signal) init.signal = asked.signal
    if (asked.body !== undefined) {
      headers['Content-Type'] = 'application/json'
      init.body = JSON.stringify(asked.body)
    }
    // Looked up when it is needed, so that whatever a page puts in its place counts.
    const call = this.options.fetch ?? globalThis.fetch
    try {
      return await call(this.baseUrl + path + search(asked.query), init)
    } catch (error) {
      throw unreachable(error, this.baseUrl)
    }
  }

  private async checked(answer: Response): Promise<Response> {
    if (answer.ok) return answer
    const told = (await answer.json().catch(() => null)) as Failure | null
    if (told?.error?.code) throw errorOf(answer.status, told.error)
    const message = `${this.baseUrl} answered ${answer.status}; is that the Callboard server?`
    throw errorOf(answer.status, { code: 'INTERNAL_ERROR', message })
  }
}

/** A part of an address, whatever is in it. */
export function part(text: string): string {
  return encodeURIComponent(text)
}

function search(query: Query | undefined): string {
  const given = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) given.set(key, String(value))
  }
  return given.size > 0 ? `?${given}` : ''
}

function unreachable(error: unknown, baseUrl: string): unknown {
  const name = (error as { name?: unknown } | null)?.name
  // A caller that aborted the request expects to see that it was aborted.
  if (name === 'AbortError' || error instanceof CallboardError) return error
  const why = name === 'TimeoutError' ? 'did not answer in time' : 'does not answer'
  return new ServerUnreachable(
    `The server at ${baseUrl || 'this address'} ${why}. Is it running?`,
    'SERVER_UNREACHABLE',
  )
}
