/** The pages there are, and the addresses that they have under `/app`. */
export type Route =
  | { readonly page: 'inbox'; readonly question: string | null }
  | { readonly page: 'sessions' }
  | { readonly page: 'session'; readonly id: string }
  | { readonly page: 'family'; readonly id: string }
  | { readonly page: 'compare'; readonly left: string; readonly right: string }
  | { readonly page: 'board' }
  | { readonly page: 'plate'; readonly id: string }
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
  const [head, first, second] = path.split('/').filter(Boolean).map(decode)
  switch (head) {
    case undefined:
      return { page: 'inbox', question: null }
    case 'inbox':
      return { page: 'inbox', question: first ?? null }
    case 'sessions':
      if (first === undefined) return { page: 'sessions' }
      return second === 'family' ? { page: 'family', id: first } : { page: 'session', id: first }
    case 'compare':
      if (first && second) return { page: 'compare', left: first, right: second }
      return { page: 'lost', path }
    case 'board':
      return first === undefined ? { page: 'board' } : { page: 'plate', id: first }
    case 'settings':
      return { page: 'settings' }
    default:
      return { page: 'lost', path }
  }
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
  inbox: (question?: string) => (question ? `/inbox/${encodeURIComponent(question)}` : '/inbox'),
  sessions: () => '/sessions',
  session: (id: string, at?: number) =>
    `/sessions/${encodeURIComponent(id)}${at === undefined ? '' : `?at=${at}`}`,
  family: (id: string) => `/sessions/${encodeURIComponent(id)}/family`,
  compare: (left: string, right: string) =>
    `/compare/${encodeURIComponent(left)}/${encodeURIComponent(right)}`,
  board: () => '/board',
  settings: () => '/settings',
  plate: (id: string) => `/board/${encodeURIComponent(id)}`,
} as const
