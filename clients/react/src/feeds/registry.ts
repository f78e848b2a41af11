import type { QueryClient } from '@tanstack/react-query'
import type { CallboardClient } from '../client/client.js'
import { BoardFeed } from './boardFeed.js'
import { SessionFeed } from './sessionFeed.js'

interface Feeds {
  readonly sessions: Map<string, SessionFeed>
  board: BoardFeed | undefined
}

// Beside the clients and caches that they belong to, and gone with them.
const all = new WeakMap<CallboardClient, WeakMap<QueryClient, Feeds>>()

function feedsOf(client: CallboardClient, cache: QueryClient): Feeds {
  let byCache = all.get(client)
  if (!byCache) {
    byCache = new WeakMap()
    all.set(client, byCache)
  }
  let feeds = byCache.get(cache)
  if (!feeds) {
    feeds = { sessions: new Map(), board: undefined }
    byCache.set(cache, feeds)
  }
  return feeds
}

/** The feed of a session, if someone reads it. */
export function openSessionFeed(client: CallboardClient, cache: QueryClient, sessionId: string) {
  return all.get(client)?.get(cache)?.sessions.get(sessionId)
}

/** The feed of a session, made for the first who reads it. */
export function sessionFeed(client: CallboardClient, cache: QueryClient, sessionId: string) {
  const { sessions } = feedsOf(client, cache)
  let feed = sessions.get(sessionId)
  if (!feed) {
    feed = new SessionFeed(client, cache, sessionId, () => sessions.delete(sessionId))
    sessions.set(sessionId, feed)
  }
  return feed
}

/** The feed of everything, if someone reads it. */
export function openBoardFeed(client: CallboardClient, cache: QueryClient) {
  return all.get(client)?.get(cache)?.board
}

/** The feed of everything, made for the first who reads it. */
export function boardFeed(client: CallboardClient, cache: QueryClient): BoardFeed {
  const feeds = feedsOf(client, cache)
  feeds.board ??= new BoardFeed(client, cache, () => {
    feeds.board = undefined
  })
  return feeds.board
}
