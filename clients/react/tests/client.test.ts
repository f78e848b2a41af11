// @vitest-environment node
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, inject, it } from 'vitest'
import {
  AlreadyAnswered,
  createClient,
  HistoryChanged,
  NotFound,
  ServerUnreachable,
  SessionNotFound,
  type StreamStatus,
  Unauthenticated,
  ValidationError,
} from '../src/client/index'
import { client } from './page'

it('runs a session to its end in Node', async () => {
  const board = client()
  const id = await board.createSession('trip', 'Oslo')
  const names: string[] = []
  for await (const event of board.tail(id)) {
    names.push(event.name)
    if (event.name !== 'input:requested') continue
    await board.sendInput(id, { id: String(event.payload.id), value: 'yes', approved: true })
  }
  expect(names.at(-1)).toBe('workflow:completed')
  expect(await board.getStateAt(id)).toMatchObject({ city: 'Oslo', plan: ['See Oslo', 'Eat'] })
  expect(await board.getStateAt(id, 0)).not.toMatchObject({ city: 'Oslo' })
  // Nothing comes after the end: the server says so, and the iterator ends.
  for await (const event of board.tail(id, names.length)) expect.fail(event.name)
})

it('tells errors apart by their code', async () => {
  const board = client()
  const id = await board.createSession('choice')
  let asked = (await board.getSession(id)).pending
  while (asked.length === 0) asked = (await board.getSession(id)).pending
  const question = asked[0]?.id ?? ''
  await expect(board.answer(question, { value: 'up' })).rejects.toThrow(ValidationError)
  await board.answer(question, { value: 'left' })
  await expect(board.answer(question, { value: 'right' })).rejects.toThrow(AlreadyAnswered)
  await expect(board.getSession('nobody')).rejects.toMatchObject({
    constructor: SessionNotFound,
    code: 'SESSION_NOT_FOUND',
    status: 404,
  })
  await expect(board.getSession('nobody')).rejects.toThrow(NotFound)
  const stranger = createClient({ baseUrl: inject('url'), token: 'cb_of-somebody-else' })
  await expect(stranger.listWorkflows()).rejects.toThrow(Unauthenticated)
  const nowhere = createClient({ baseUrl: 'http://127.0.0.1:1' })
  await expect(nowhere.listWorkflows()).rejects.toThrow(ServerUnreachable)
})

it('sends a message again whose reply was lost, with the same key', async () => {
  const keys: unknown[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (some) => {
      body += some
    })
    request.on('end', () => {
      keys.push(JSON.parse(body).key)
      if (keys.length === 1) request.socket.destroy()
      else response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"id":"m1"}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const board = createClient({ baseUrl: `http://127.0.0.1:${port}` })
  expect(await board.sendMessage('p1', { text: 'Hello.' })).toEqual({ id: 'm1' })
  await board.sendMessage('p1', { text: 'Hello.' })
  await board.sendMessage('p1', { text: 'Hello.', key: 'mine' })
  server.close()
  expect(keys[0]).toMatch(/.{8}/)
  expect(keys[1]).toBe(keys[0])
  expect(keys[2]).not.toBe(keys[0])
  expect(keys[3]).toBe('mine')
})

it('sets, lists and removes limits', async () => {
  const board = client()
  const limit = { name: 'open ai/1', number: 8, inUse: 0, waiting: 0, slots: [] }
  expect(await board.setLimit('open ai/1', 8)).toEqual(limit)
  expect(await board.listLimits()).toContainEqual(limit)
  expect(await board.listLimits({ sessionId: 'x' })).toContainEqual(limit)
  expect(await board.removeLimit('open ai/1')).toEqual(limit)
  await expect(board.removeLimit('open ai/1')).rejects.toThrow(NotFound)
})

it('says that something else answered in place of a server', async () => {
  const other = createServer((_, answer) => answer.end('<html>'))
  await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
  const { port } = other.address() as AddressInfo
  const board = createClient({ baseUrl: `http://127.0.0.1:${port}` })
  await expect(board.listWorkflows()).rejects.toThrow("isn't a Callboard server")
  await expect(board.tail('x').next()).rejects.toThrow('is that the Callboard server?')
  other.close()
})

it('comes back to a server that has fallen silent', async () => {
  let connections = 0
  const places: Array<string | undefined> = []
  const mute = createServer((request, answer) => {
    connections += 1
    places.push(request.headers['last-event-id']?.toString())
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.write(`id: ${connections}\ndata: {"name":"n","position":${connections}}\n\n`)
    answer.write('id: 1\ndata: {"name":"again","position":1}\n\n')
  })
  await new Promise<void>((done) => mute.listen(0, '127.0.0.1', done))
  const { port } = mute.address() as AddressInfo
  const board = createClient({ baseUrl: `http://127.0.0.1:${port}` })
  const seen: number[] = []
  const statuses: StreamStatus[] = []
  await new Promise<void>((done) => {
    const stream = board.follow('x', {
      quietMs: 1000, // Less, and on a busy machine an answer may come too late.
      onEvents(events) {
        seen.push(...events.map((event) => event.position))
        if (seen.length < 3) return
        stream.close()
        done()
      },
      onStatus: (status) => statuses.push(status),
    })
  })
  mute.closeAllConnections()
  mute.close()
  expect(seen).toEqual([1, 2, 3])
  expect(places).toEqual([undefined, '1', '1'])
  expect(statuses).toEqual([
    'connecting',
    'connected',
    'disconnected',
    'connected',
    'disconnected',
    'connected',
  ])
})

it('learns that the server has lost what it read', async () => {
  const asked: string[] = []
  const lossy = createServer((request, answer) => {
    const last = request.headers['last-event-id'] ?? ''
    asked.push(`${last} ${new URL(request.url ?? '', 'http://x').searchParams.get('lastEvent')}`)
    if (last) {
      answer.writeHead(409, { 'content-type': 'application/json' })
      answer.end('{"error":{"code":"HISTORY_CHANGED","message":"Events are gone."}}')
      return
    }
    const id = asked.length === 1 ? 'lost' : 'kept'
    answer.writeHead(200, { 'content-type': 'text/event-stream' })
    answer.end(`id: 1\ndata: {"name":"n","position":1,"id":"${id}"}\n\n`)
  })
  await new Promise<void>((done) => lossy.listen(0, '127.0.0.1', done))
  const { port } = lossy.address() as AddressInfo
  const board = createClient({ baseUrl: `http://127.0.0.1:${port}` })
  const seen: string[] = []
  await new Promise<void>((done) => {
    const stream = board.follow('x', {
      onEvents(events) {
        seen.push(...events.map((event) => event.id))
        if (!seen.includes('restarted')) return
        stream.close()
        done()
      },
      onRestart: () => seen.push('restarted'),
    })
  })
  expect(seen).toEqual(['lost', 'restarted', 'kept'])
  expect(asked).toEqual([' null', '1 lost', ' null'])
  // A program that cannot start over gets an error, and not a gap.
  const tail = board.tail('x')
  await tail.next()
  await expect(tail.next()).rejects.toThrow(HistoryChanged)
  lossy.closeAllConnections()
  lossy.close()
})
