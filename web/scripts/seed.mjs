// Fills a server with sessions to look at:
//   CALLBOARD_SERVER=http://127.0.0.1:2255 CALLBOARD_TOKEN=… node scripts/seed.mjs
import { createClient } from '@callboard/react/client'

const client = createClient({
  baseUrl: process.env.CALLBOARD_SERVER ?? 'http://127.0.0.1:2255',
  token: process.env.CALLBOARD_TOKEN,
})

async function until(id, status) {
  for (;;) {
    const session = await client.getSession(id)
    if (session.status === status) return session
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function answer(id, given) {
  const { pending } = await until(id, 'waiting')
  await client.answer(pending[0].id, given)
}

const start = (workflow, input, sessionId) => client.createSession(workflow, input, { sessionId })

await start('release-notes', '2.4.0', 'notes-2.4.0')
await answer('notes-2.4.0', { approved: false })
await answer('notes-2.4.0', { approved: true, by: 'dana' })
await answer('notes-2.4.0', { value: 'Website' })
await until('notes-2.4.0', 'completed')
const { events } = await client.getEvents('notes-2.4.0')
const asked = events.find((event) => event.name === 'input:requested').position
for (const [name, value] of [
  ['notes-2.4.0-short', 'Three changes. Enjoy.'],
  ['notes-2.4.0-loud', 'THE BIGGEST RELEASE YET'],
]) {
  await client.fork(
    'notes-2.4.0',
    { position: asked },
    { sessionId: name, edits: [{ op: 'replace', path: '/notes', value }] },
  )
}
await answer('notes-2.4.0-short', { approved: true })
await start('broken', null, 'broken-1')
await start('release-notes', '2.5.0', 'notes-2.5.0')
await start('choice', null, 'crossroads')
await start('trip', 'Lisbon', 'trip-lisbon')
await start('large-state', 20_000, 'large')
for (const id of ['notes-2.5.0', 'crossroads', 'trip-lisbon', 'large']) await until(id, 'waiting')
await client.ask({ type: 'input', prompt: 'What should the newsletter be called?' })
const confirm = await client.ask({
  type: 'confirmation',
  prompt: 'Delete the staging database?',
  config: { command: 'dropdb staging', host: 'db-2', rows: 48211 },
})
await client.claim(confirm.id, { by: 'dana', ttlMs: 3_600_000 })
for (let n = 1; n <= 40; n += 1) await start('count', (n % 5) + 1, `count-${n}`)
await start('trip', 'Oslo', 'trip-oslo')
await until('trip-oslo', 'waiting')
await client.pause('trip-oslo')
