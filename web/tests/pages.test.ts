import { Unauthenticated, type WorkerInfo } from '@callboard/react'
import { expect, describe as group, it } from 'vitest'
import { familyOf } from '../src/family/tree'
import { mannerOf, verdictOf, whereOf } from '../src/inbox/manner'
import { receiptWords } from '../src/inbox/receipt'
import { byUrgency, holder } from '../src/inbox/urgency'
import { routeOf, to } from '../src/router/route'
import type { Interaction, Session } from '../src/server/types'
import { signInCommand } from '../src/shell/signIn'
import { mixedVersions } from '../src/workers/versions'

/** Any members of a question, whether they fit each other or not. */
type Change = { readonly [K in keyof Interaction]?: Interaction[K] }

function question(change: Change): Interaction {
  return {
    id: 'q',
    sessionId: null,
    type: 'approval',
    prompt: 'Go?',
    options: null,
    other: false,
    status: 'pending',
    response: null,
    config: null,
    transcript: null,
    durationMs: null,
    error: null,
    phase: null,
    deadline: null,
    claimedBy: null,
    claimedUntil: null,
    answeredBy: null,
    answeredAs: null,
    via: null,
    accepted: null,
    receipt: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    resolvedAt: null,
    ...change,
  } as Interaction
}

function session(sessionId: string, parent: string | null, forkPosition = 0): Session {
  return {
    sessionId,
    workflow: 'trip',
    version: null,
    status: 'completed',
    running: false,
    phase: null,
    position: 10,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    parent,
    forkPosition,
    pending: [],
    pendingCount: 0,
    error: null,
    held: null,
    progress: null,
    title: null,
  }
}

group('addresses', () => {
  it('lead to their pages and back', () => {
    const id = 'a/b c'
    expect(routeOf(`/app${to.session(id)}`)).toEqual({ page: 'session', id })
    expect(routeOf(`/app${to.family(id)}`)).toEqual({ page: 'family', id })
    expect(routeOf(`/app${to.compare(id, 'x')}`)).toEqual({ page: 'compare', left: id, right: 'x' })
    expect(routeOf(`/app${to.inbox('q')}`)).toEqual({ page: 'inbox', question: 'q' })
    expect(routeOf('/app/')).toEqual({ page: 'home' })
    expect(routeOf(`/app${to.workers()}`)).toEqual({ page: 'workers' })
    expect(routeOf(`/app${to.people()}`)).toEqual({ page: 'people' })
    expect(routeOf(`/app${to.workflow(id)}`)).toEqual({ page: 'workflow', name: id })
  })

  it('of a spent sign-in link have a page', () => {
    expect(routeOf('/login')).toEqual({ page: 'link' })
    expect(routeOf('/app/login').page).toBe('lost')
  })

  it('that lead nowhere say so', () => {
    expect(routeOf('/app/nowhere').page).toBe('lost')
    expect(routeOf('/app/compare/one').page).toBe('lost')
    expect(routeOf('/app/sessions/%E0%A4%A').page).toBe('session')
  })
})

group('the command that signs in', () => {
  const refused = (details: Record<string, unknown>) =>
    new Unauthenticated('', 'UNAUTHENTICATED', 401, details)
  const at = (address: string) => new URL(address)

  it('is what the server says', () => {
    const error = refused({ signIn: 'callboard open --db /srv/x.db' })
    expect(signInCommand(error, at('http://callboard.localhost:2300'))).toBe(
      'callboard open --db /srv/x.db',
    )
  })

  it('follows from the address where the server says nothing', () => {
    const error = refused({})
    const command = (address: string) => signInCommand(error, at(address))
    expect(command('http://callboard.localhost:2255')).toBe('callboard open')
    expect(command('http://localhost:2300')).toBe('callboard open --server http://127.0.0.1:2300')
    expect(command('https://board.example.com')).toBe(
      'callboard open --server https://board.example.com',
    )
  })
})

group('urgency', () => {
  const now = Date.parse('2026-01-01T12:00:00.000Z')

  it('puts what runs out within the hour first, then the oldest', () => {
    const soon = question({
      id: 'soon',
      createdAt: '2026-01-01T11:00:00.000Z',
      deadline: '2026-01-01T12:10:00.000Z',
    })
    const later = question({
      id: 'later',
      createdAt: '2026-01-01T10:00:00.000Z',
      deadline: '2026-01-02T12:00:00.000Z',
    })
    const old = question({ id: 'old' })
    expect(byUrgency([later, old, soon], now).map(({ id }) => id)).toEqual(['soon', 'old', 'later'])
  })

  it('forgets a claim whose time is over', () => {
    const claimed = question({ claimedBy: 'dana', claimedUntil: '2026-01-01T12:00:01.000Z' })
    expect(holder(claimed, now)).toBe('dana')
    expect(holder(claimed, now + 2000)).toBeNull()
  })
})

group('answers', () => {
  it('are told in words', () => {
    const told = (change: Change) => verdictOf(question(change))
    expect(told({ status: 'completed', response: { value: 'yes', approved: true } })).toBe(
      'Approved',
    )
    expect(told({ status: 'completed', response: { value: 'left' } })).toBe('“left”')
    expect(told({ status: 'rejected' })).toBe('Rejected')
    expect(told({ status: 'timeout' })).toBe('Deadline passed')
  })

  it('to a type that is not known here are given elsewhere', () => {
    expect(mannerOf({ type: 'telepathy' as Interaction['type'] })).toBe('elsewhere')
  })
})

group('a family', () => {
  it('stands each fork below its parent, the earlier ones first', () => {
    const { branches } = familyOf([
      session('root', null),
      session('late', 'root', 8),
      session('early', 'root', 2),
      session('child', 'early', 5),
    ])
    expect(branches.map((one) => [one.session.sessionId, one.depth])).toEqual([
      ['root', 0],
      ['early', 1],
      ['child', 2],
      ['late', 1],
    ])
  })

  it('keeps those whose parent was deleted', () => {
    expect(familyOf([session('orphan', 'gone', 3)]).branches).toHaveLength(1)
  })
})

group('what became of an answer', () => {
  const answered = {
    type: 'permission',
    accepted: { approved: false, message: 'Not that.' },
    answeredBy: 'admin',
    answeredAs: 'dana',
    via: 'board',
  } as const
  const told = (change: Change) => {
    const one = question({ ...answered, ...change })
    return [verdictOf(one), whereOf(one), receiptWords(one)?.text]
  }

  it('is no more than accepted until the agent confirms it', () => {
    expect(told({ receipt: 'pending' })).toEqual([
      'Denied: “Not that.”',
      'by admin, as “dana”',
      'Waiting for the agent to confirm',
    ])
  })

  it('is what really happened', () => {
    expect(
      told({ status: 'completed', receipt: 'delivered', response: answered.accepted }),
    ).toEqual(['Denied: “Not that.”', 'by admin, as “dana”', 'Delivered'])
    const there = { receipt: 'overruled', via: 'terminal' } as const
    expect(told({ ...there, status: 'completed', response: { approved: true } })).toEqual([
      'Allowed',
      'in the terminal',
      'Overruled in the terminal: it was allowed there',
    ])
    expect(told({ ...there, status: 'completed', response: { approved: false } })[2]).toBe(
      'Overruled in the terminal: it was denied there',
    )
    expect(told({ ...there, status: 'cancelled' })).toEqual([
      'Dismissed',
      'in the terminal',
      'Overruled in the terminal: it was dismissed there',
    ])
    expect(told({ status: 'cancelled', receipt: 'lost', via: 'terminal' })).toEqual([
      'Not delivered: Denied: “Not that.”',
      'by admin, as “dana”',
      'Lost: the agent stopped before it got the answer',
    ])
  })

  it('is not told where nothing stands between', () => {
    const plain = question({ status: 'completed', response: { value: 'yes', approved: true } })
    expect(receiptWords({ ...plain, receipt: 'delivered' })).toBeNull()
    expect(
      verdictOf(
        question({
          type: 'question',
          status: 'completed',
          response: { approved: false, message: 'Later.' },
        }),
      ),
    ).toBe('Declined: “Later.”')
  })
})

group('workers', () => {
  const worker = (alive: boolean, ...workflows: WorkerInfo['workflows']): WorkerInfo => ({
    id: 'w',
    host: 'build-1',
    pid: 1,
    since: null,
    alive,
    engineWorker: null,
    workflows,
    sessions: [],
    sessionCount: 0,
  })

  it('have different versions while one is deployed', () => {
    const workers = [
      worker(true, { name: 'trip', version: '2' }, { name: 'memo', version: null }),
      worker(true, { name: 'trip', version: null }, { name: 'memo', version: null }),
      worker(false, { name: 'memo', version: '9' }),
    ]
    expect(mixedVersions(workers, 'none')).toEqual([{ name: 'trip', versions: ['2', 'none'] }])
  })
})
