/** The pages there are, and the addresses that they have under `/app`. */
export type Route =
  | { readonly page: 'home' }
  | { readonly page: 'inbox'; readonly question: string | null }
  | { readonly page: 'sessions' }
  | { readonly page: 'session'; readonly id: string }
  | { readonly page: 'family'; readonly id: string }
  | { readonly page: 'compare'; readonly left: string; readonly right: string }
  | { readonly page: 'workflows' }
  | { readonly page: 'workflow'; readonly name: string }
  | { readonly page: 'board' }
  | { readonly page: 'plate'; readonly id: string }
  | { readonly page: 'usage' }
  | { readonly page: 'workers' }
  | { readonly page: 'people' }
  | { readonly page: 'settings' }
  | { readonly page: 'link' }
  | { readonly page: 'lost'; readonly path: string }

export const BASE = '/app'

/** The page at an address. The server answers a spent sign-in link with this page too. */
export function routeOf(pathname: string): Route {
  if (pathname === '/login') return { page: 'link' }
  return pageAt(pathname.startsWith(BASE) ? pathname.slice(BASE.length) : pathname)
}

function pageAt(path: string): Route {
  const [head = '', first, second] = path.split('/').filter(Boolean).map(decode)
  return PAGES.get(head)?.(first, second) ?? { page: 'lost', path }
}

type At = (first: string | undefined, second: string | undefined) => Route | null

/** Which page is at an address, by its first part; null when its other parts lead nowhere. */
const PAGES: ReadonlyMap<string, At> = new Map<string, At>([
  ['', () => ({ page: 'home' })],
  ['inbox', (question) => ({ page: 'inbox', question: question ?? null })],
  ['sessions', (id, what) => sessionAt(id, what)],
  ['compare', (left, right) => (left && right ? { page: 'compare', left, right } : null)],
  ['workflows', (name) => (name ? { page: 'workflow', name } : { page: 'workflows' })],
  ['board', (id) => (id ? { page: 'plate', id } : { page: 'board' })],
  ['usage', () => ({ page: 'usage' })],
  ['workers', () => ({ page: 'workers' })],
  ['people', () => ({ page: 'people' })],
  ['settings', () => ({ page: 'settings' })],
])

function sessionAt(id: string | undefined, what: string | undefined): Route {
  if (id === undefined) return { page: 'sessions' }
  return what === 'family' ? { page: 'family', id } : { page: 'session', id }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The addresses of the pages. */
export const to = {
  home: () => '/',
  inbox: (question?: string) => (question ? `/inbox/${encodeURIComponent(question)}` : '/inbox'),
  sessions: () => '/sessions',
  session: (id: string, at?: number) =>
    `/sessions/${encodeURIComponent(id)}${at === undefined ? '' : `?at=${at}`}`,
  family: (id: string) => `/sessions/${encodeURIComponent(id)}/family`,
  compare: (left: string, right: string) =>
    `/compare/${encodeURIComponent(left)}/${encodeURIComponent(right)}`,
  workflows: () => '/workflows',
  workflow: (name: string) => `/workflows/${encodeURIComponent(name)}`,
  board: () => '/board',
  usage: () => '/usage',
  workers: () => '/workers',
  people: () => '/people',
  settings: () => '/settings',
  plate: (id: string) => `/board/${encodeURIComponent(id)}`,
} as const
