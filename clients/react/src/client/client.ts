import type { ConversationQuery } from './conversation.js'
import type { SerializedEvent } from './events.js'
import { EventStream, type StreamOptions } from './stream.js'
import { tailed } from './tail.js'
import { type ClientOptions, part, Transport } from './transport.js'
import type * as wire from './wire.js'

/** An answer to a question of a session. */
export interface InputPayload {
  /** The question. */
  readonly id: string
  readonly value?: unknown
  readonly approved?: boolean | undefined
  /** Who answers; without it, the holder of the token. */
  readonly by?: string | undefined
}

/** Which sessions to list. */
export interface SessionFilters {
  readonly status?: wire.Session['status'] | undefined
  readonly workflow?: string | undefined
  /** Only the forks of this session. */
  readonly parent?: string | undefined
  /** Text in the id, the workflow, the phase or the title. */
  readonly q?: string | undefined
  /** How many a page. */
  readonly limit?: number | undefined
}

/** Which questions to list. */
export interface InteractionFilters {
  readonly status?: wire.Interaction['status'] | undefined
  readonly sessionId?: string | undefined
  readonly type?: wire.Interaction['type'] | undefined
  readonly workflow?: string | undefined
  /** A person, `group:NAME`, `me` for the holder of the token, or `none` for unassigned ones. */
  readonly assignedTo?: string | undefined
  /** Text in the prompt. */
  readonly q?: string | undefined
  /** How many a page. */
  readonly limit?: number | undefined
}

/** How a session starts. */
export type StartOptions = Omit<wire.StartRequest, 'workflowId' | 'input'>

/** Which days statistics are about. */
export interface StatisticsPeriod {
  /** How many, today included; 30 unless told. */
  readonly days?: number | undefined
  /** The time zone for days, in minutes east of UTC; 0 by default. */
  readonly utcOffset?: number | undefined
}

/** Which usage to report. */
export interface UsageQuery extends StatisticsPeriod {
  /** What the rows are; days unless told. */
  readonly by?: wire.UsageReport['by'] | undefined
  /** What the rows are divided into: each row then has `parts`. */
  readonly split?: 'agent' | 'model' | undefined
  /** Only this plate or session. */
  readonly stream?: string | undefined
}

/** What a fork may change. */
export type ForkOptions = Omit<wire.ForkRequest, 'at'>

/** The routes of a server, typed, and its streams. */
export interface CallboardClient {
  readonly baseUrl: string
  createSession(workflowId: string, input?: unknown, options?: StartOptions): Promise<string>
  listSessions(
    filters?: SessionFilters,
    cursor?: string | null,
    signal?: AbortSignal,
  ): Promise<wire.SessionsPage>
  getSession(sessionId: string, signal?: AbortSignal): Promise<wire.Session>
  /** Rename a session, also after it ended; null or an empty title takes its title away. */
  renameSession(sessionId: string, title: string | null): Promise<wire.Session>
  deleteSession(sessionId: string): Promise<void>
  /** Events after a position, at most 1000; `nextAfter` when there are more. */
  getEvents(sessionId: string, after?: number, signal?: AbortSignal): Promise<wire.EventsPage>
  /** The state after the first N events, or now. */
  getStateAt<S>(sessionId: string, position?: number, signal?: AbortSignal): Promise<S>
  /** The session, its events and its state as one document; read the body as it comes. */
  exportSession(
    sessionId: string,
    format?: 'json' | 'markdown',
    signal?: AbortSignal,
  ): Promise<Response>
  sendInput(sessionId: string, payload: InputPayload): Promise<void>
  pause(sessionId: string, options?: wire.PauseRequest): Promise<wire.PauseResult>
  resume(sessionId: string, options?: wire.ResumeRequest): Promise<wire.ResumeResult>
  cancel(sessionId: string, options?: wire.CancelRequest): Promise<wire.CancelResult>
  fork(sessionId: string, at?: wire.ForkAt, options?: ForkOptions): Promise<wire.ForkResult>
  /** Retry a failed session as a fork: from the failed phase, or from another point. */
  retrySession(sessionId: string, at?: wire.ForkAt, options?: ForkOptions): Promise<wire.ForkResult>
  listWorkflows(signal?: AbortSignal): Promise<ReadonlyArray<wire.Workflow>>
  /** How the runs of all workflows went over the last days. */
  getOverview(period?: StatisticsPeriod, signal?: AbortSignal): Promise<wire.Overview>
  /** How the runs of one workflow went; all zero if it was never run. */
  getWorkflowStats(
    workflowId: string,
    period?: StatisticsPeriod,
    signal?: AbortSignal,
  ): Promise<wire.WorkflowStats>
  /** Who drives sessions, and the sessions that no running worker can drive; or just one session. */
  getWorkers(sessionId?: string, signal?: AbortSignal): Promise<wire.WorkerOverview>
  /** The tokens that agents have used over the last days, and what they cost. */
  getUsage(query?: UsageQuery, signal?: AbortSignal): Promise<wire.UsageReport>
  /** The daily budget for all agents, and what was spent today. */
  getBudget(signal?: AbortSignal): Promise<wire.DailyBudget>
  /**
   * Ask people once a day when this much was spent, in US dollars; null for no budget. It stops
   * nothing. utcOffset: the time zone of its days, in minutes east of UTC. timeZone: its name,
   * which counts instead. Needs `operate`.
   */
  setBudget(daily: number | null, utcOffset?: number, timeZone?: string): Promise<wire.DailyBudget>
  /** The 1000 oldest questions that fit, or as many as `limit` says. */
  listInteractions(
    filters?: InteractionFilters,
    signal?: AbortSignal,
  ): Promise<ReadonlyArray<wire.Interaction>>
  /** The same a page at a time; `nextCursor` when there are more. */
  pageInteractions(
    filters?: InteractionFilters,
    cursor?: string | null,
    signal?: AbortSignal,
  ): Promise<wire.InteractionsPage>
  getInteraction(id: string, signal?: AbortSignal): Promise<wire.Interaction>
  ask(question: wire.AskRequest): Promise<wire.Interaction>
  /**
   * Say who is expected to answer: the holder of the token, or `to`; null for no one. It locks
   * nothing and does not expire.
   */
  assign(id: string, request?: wire.AssignRequest): Promise<wire.Interaction>
  claim(id: string, claim: wire.ClaimRequest): Promise<wire.Interaction>
  /** Give a claim back before it runs out. */
  release(id: string, by: string): Promise<wire.Interaction>
  answer(id: string, answer: wire.AnswerRequest): Promise<wire.Interaction>
  complete(id: string, end: wire.CompleteRequest): Promise<wire.Interaction>
  cancelInteraction(id: string): Promise<wire.Interaction>
  /** The coding agents' sessions that are on the board. */
  listPlates(signal?: AbortSignal): Promise<ReadonlyArray<wire.Plate>>
  /** What agents reported and the server has not read yet: so far, no plate shows it. */
  getBacklog(signal?: AbortSignal): Promise<wire.HookBacklog>
  getPlate(plateId: string, signal?: AbortSignal): Promise<wire.Plate>
  /** Name it, pin it, mark it as seen; an empty name takes the name away. */
  changePlate(plateId: string, change: wire.PlateChange): Promise<wire.Plate>
  /** Take it off the board; a session that starts on it brings it back. */
  dismissPlate(plateId: string): Promise<void>
  /** The machines with a relay, by name, and whether they can be reached. */
  listHosts(signal?: AbortSignal): Promise<ReadonlyArray<wire.RelayHost>>
  /** Revoke a machine's tokens, and take it and its plates off the board; needs `admin`. */
  removeHost(id: string): Promise<void>
  /** Create a code with which one machine can be paired; needs the scope `admin`. */
  createPairing(request?: wire.PairingRequest): Promise<wire.PairingOffer>
  /** What happened to a plate after a position, at most 1000; `nextAfter` when there is more. */
  getPlateEvents(plateId: string, after?: number, signal?: AbortSignal): Promise<wire.EventsPage>
  /** A part of a coding agent's conversation, without a cursor its end; needs `operate`. */
  getConversation(
    plateId: string,
    query?: ConversationQuery,
    signal?: AbortSignal,
  ): Promise<wire.ConversationPage>
  /** The newest items before a place that contain a text. */
  searchConversation(
    plateId: string,
    text: string,
    query?: Pick<ConversationQuery, 'before' | 'subagent'>,
    signal?: AbortSignal,
  ): Promise<wire.ConversationMatches>
  /** All of an item that a page has cut. cursor: `after` of a page that has it. */
  getConversationItem(
    plateId: string,
    itemId: string,
    query: { readonly cursor: string; readonly subagent?: string | undefined },
    signal?: AbortSignal,
  ): Promise<wire.ConversationItem>
  /** The messages to a coding agent with their receipts, and how it can be reached now. */
  getMessages(plateId: string, signal?: AbortSignal): Promise<wire.PlateMessages>
  /** Write a message to a coding agent: for its next opportunity, or for the end of its turn. */
  sendMessage(plateId: string, message: wire.MessageRequest): Promise<wire.PlateMessage>
  /** Change or move a message that is still queued. before: the message that it goes before. */
  changeMessage(
    plateId: string,
    messageId: string,
    change: wire.MessageChange,
  ): Promise<wire.PlateMessage>
  /** Take back a message that is still queued. */
  withdrawMessage(plateId: string, messageId: string): Promise<wire.PlateMessage>
  /** Stop the agent's turn. */
  interruptPlate(plateId: string): Promise<wire.PlateInterrupted>
  /** Start a coding agent in the background, or resume one that has ended. */
  startPlate(request: wire.AgentStartRequest): Promise<wire.StartedPlate>
  /** End an agent that was started in the background. */
  stopPlate(plateId: string): Promise<wire.Plate>
  /** What changed in an agent's working tree since its `session` started, and so on. */
  getChanges(plateId: string, since?: string, signal?: AbortSignal): Promise<wire.WorktreeChanges>
  /** The diff of one file of `getChanges`. */
  getFileChanges(
    plateId: string,
    file: Pick<wire.ChangedFile, 'path' | 'oldPath'>,
    since?: string,
    signal?: AbortSignal,
  ): Promise<wire.FileChanges>
  /** Comments on lines as one message, which isn't sent, and where their lines are now. */
  placeComments(
    plateId: string,
    request: wire.CommentsRequest,
    signal?: AbortSignal,
  ): Promise<wire.CommentMessage>
  /** Read a session's events until its end, over as many connections as that takes. */
  follow(sessionId: string, options: StreamOptions): EventStream
  /** Read every event of every session; without `after`, from now on. */
  followAll(options: StreamOptions): EventStream
  /** A session's events as an async iterator, for programs. */
  tail(sessionId: string, after?: number): AsyncGenerator<SerializedEvent, void, undefined>
  /** Who the token or the cookie belongs to, and what it allows. */
  getMe(signal?: AbortSignal): Promise<wire.TokenHolder>
  /** The access tokens that are not revoked; needs the scope `admin`. */
  listTokens(signal?: AbortSignal): Promise<ReadonlyArray<wire.Token>>
  /** Who has a token or has signed in lately, and the hosts; needs the scope `admin`. */
  getTeam(signal?: AbortSignal): Promise<wire.Team>
  /** Create an access token. Its secret is in the answer, and never shown again. */
  createToken(token: wire.TokenRequest): Promise<wire.NewToken>
  /** Revoke an access token: from now on it opens nothing. */
  revokeToken(id: string): Promise<wire.Token>
  /** The limits that have a number or are in use; with `sessionId`, only that session's agents. */
  listLimits(
    filters?: { readonly sessionId?: string },
    signal?: AbortSignal,
  ): Promise<ReadonlyArray<wire.AgentLimit>>
  /** Lets at most so many agents run at once; needs the scope `operate`. Running agents finish. */
  setLimit(name: string, number: number): Promise<wire.AgentLimit>
  /** Removes a limit's number: from now on, it is not limited. */
  removeLimit(name: string): Promise<wire.AgentLimit>
  /** The version, the address and the database of the server; needs the scope `operate`. */
  getServer(signal?: AbortSignal): Promise<wire.ServerFacts>
  /** The hooks of every coding agent: for an admin, on the server's own machine. */
  listHooks(signal?: AbortSignal): Promise<ReadonlyArray<wire.AgentHooks>>
  /** Install an agent's hooks, if that still makes the change that `diff` shows. */
  installHooks(agent: string, diff: string): Promise<wire.AgentHooks>
  /** Remove an agent's hooks, if that still makes the change that `diff` shows. */
  removeHooks(agent: string, diff: string): Promise<wire.AgentHooks>
  /** Send a test payload as a hook of the agent would, and see whether it arrives. */
  testHooks(agent: string): Promise<wire.HookTest>
  /** Take the cookie back from this browser. */
  logOut(): Promise<void>
}

/** A client of one server. */
export function createClient(options: ClientOptions): CallboardClient {
  const http = new Transport(options)
  const client: CallboardClient = {
    baseUrl: http.baseUrl,
    ...sessions(http),
    ...interactions(http),
    ...plates(http),
    ...conversations(http),
    ...messages(http),
    ...changes(http),
    ...settings(http),
    ...streams(http),
    tail: (id, after) => tailed((listener) => client.follow(id, { ...listener, after })),
    listWorkflows: listed<wire.Workflows, 'workflows'>(http, 'workflows'),
    getOverview: (period = {}, signal) => http.get('/overview', { ...period }, signal),
    getWorkflowStats: (id, period = {}, signal) =>
      http.get(`/workflows/${part(id)}/stats`, { ...period }, signal),
    getWorkers: (sessionId, signal) => http.get('/workers', { sessionId }, signal),
    getUsage: (query = {}, signal) => http.get('/usage', { ...query }, signal),
    getBudget: (signal) => http.get('/usage/budget', {}, signal),
    setBudget: (daily, utcOffset = 0, timeZone) =>
      http.put('/usage/budget', {
        daily,
        utcOffset,
        ...(timeZone && { timeZone }),
      } satisfies wire.BudgetRequest),
    async logOut() {
      await http.post('/logout')
    },
  }
  return client
}

const session = (id: string, what = '') => `/sessions/${part(id)}${what}`
const interaction = (id: string, what = '') => `/interactions/${part(id)}${what}`
const plate = (id: string, what = '') => `/plates/${part(id)}${what}`

/** Gets a list from the route that is named like its key in the response. */
function listed<T, K extends keyof T & string>(http: Transport, key: K) {
  return async (signal?: AbortSignal) => (await http.get<T>(`/${key}`, {}, signal))[key]
}

function sessions(http: Transport) {
  const forked = (how: string) => (id: string, at?: wire.ForkAt, options?: ForkOptions) =>
    http.post<wire.ForkResult>(session(id, how), { at, ...options })
  return {
    async createSession(workflowId: string, input?: unknown, options?: StartOptions) {
      const asked: wire.StartRequest = { workflowId, input, ...options }
      return (await http.post<wire.Started>('/sessions', asked)).sessionId
    },
    listSessions: (filters?: SessionFilters, cursor?: string | null, signal?: AbortSignal) =>
      http.get<wire.SessionsPage>('/sessions', { ...filters, cursor }, signal),
    getSession: (id: string, signal?: AbortSignal) =>
      http.get<wire.Session>(session(id), {}, signal),
    renameSession: (id: string, title: string | null) =>
      http.patch<wire.Session>(session(id), { title } satisfies wire.SessionChange),
    async deleteSession(id: string) {
      await http.delete(session(id))
    },
    getEvents: (id: string, after?: number, signal?: AbortSignal) =>
      http.get<wire.EventsPage>(session(id, '/events'), { after }, signal),
    async getStateAt<S>(id: string, position?: number, signal?: AbortSignal) {
      const told = await http.get<wire.StateAt>(session(id, '/state'), { position }, signal)
      return told.state as S
    },
    exportSession: (id: string, format?: 'json' | 'markdown', signal?: AbortSignal) =>
      http.download(session(id, '/export'), { format }, signal),
    async sendInput(id: string, payload: InputPayload) {
      await http.post(session(id, '/input'), payload)
    },
    pause: (id: string, options?: wire.PauseRequest) =>
      http.post<wire.PauseResult>(session(id, '/pause'), options),
    resume: (id: string, options?: wire.ResumeRequest) =>
      http.post<wire.ResumeResult>(session(id, '/resume'), options),
    cancel: (id: string, options?: wire.CancelRequest) =>
      http.post<wire.CancelResult>(session(id, '/cancel'), options),
    fork: forked('/fork'),
    retrySession: forked('/retry'),
  }
}

function plates(http: Transport) {
  return {
    listPlates: listed<wire.Plates, 'plates'>(http, 'plates'),
    getBacklog: (signal?: AbortSignal) => http.get<wire.HookBacklog>('/plates/backlog', {}, signal),
    getPlate: (id: string, signal?: AbortSignal) => http.get<wire.Plate>(plate(id), {}, signal),
    changePlate: (id: string, change: wire.PlateChange) =>
      http.patch<wire.Plate>(plate(id), change),
    async removeHost(id: string) {
      await http.delete(`/hosts/${part(id)}`)
    },
    async dismissPlate(id: string) {
      await http.delete(plate(id))
    },
    listHosts: listed<wire.RelayHostList, 'hosts'>(http, 'hosts'),
    getPlateEvents: (id: string, after?: number, signal?: AbortSignal) =>
      http.get<wire.EventsPage>(plate(id, '/events'), { after }, signal),
  }
}

function conversations(http: Transport) {
  return {
    getConversation: (id: string, query: ConversationQuery = {}, signal?: AbortSignal) =>
      http.get<wire.ConversationPage>(plate(id, '/conversation'), { ...query }, signal),
    searchConversation: (id: string, text: string, query: object = {}, signal?: AbortSignal) =>
      http.get<wire.ConversationMatches>(
        plate(id, '/conversation/search'),
        { text, ...query },
        signal,
      ),
    getConversationItem: (id: string, itemId: string, query: object, signal?: AbortSignal) =>
      http.get<wire.ConversationItem>(
        plate(id, `/conversation/items/${part(itemId)}`),
        { ...query },
        signal,
      ),
  }
}

/** For one message; browsers have `crypto.randomUUID` only on secure pages. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (one) => one.toString(36)).join('-')
}

function messages(http: Transport) {
  const message = (id: string, messageId: string) => plate(id, `/messages/${part(messageId)}`)
  return {
    getMessages: (id: string, signal?: AbortSignal) =>
      http.get<wire.PlateMessages>(plate(id, '/messages'), {}, signal),
    sendMessage: (id: string, told: wire.MessageRequest) =>
      http.postOnce<wire.PlateMessage>(plate(id, '/messages'), {
        ...told,
        key: told.key ?? newKey(),
      }),
    changeMessage: (id: string, messageId: string, change: wire.MessageChange) =>
      http.patch<wire.PlateMessage>(message(id, messageId), change),
    withdrawMessage: (id: string, messageId: string) =>
      http.delete<wire.PlateMessage>(message(id, messageId)),
    startPlate: (told: wire.AgentStartRequest) =>
      http.post<wire.StartedPlate>('/plates/start', told),
    stopPlate: (id: string) => http.post<wire.Plate>(plate(id, '/stop')),
    interruptPlate: (id: string) => http.post<wire.PlateInterrupted>(plate(id, '/interrupt')),
  }
}

function changes(http: Transport) {
  return {
    getChanges: (id: string, since?: string, signal?: AbortSignal) =>
      http.get<wire.WorktreeChanges>(plate(id, '/changes'), { since }, signal),
    getFileChanges: (
      id: string,
      { path, oldPath }: Pick<wire.ChangedFile, 'path' | 'oldPath'>,
      since?: string,
      signal?: AbortSignal,
    ) => http.get<wire.FileChanges>(plate(id, '/changes/file'), { path, oldPath, since }, signal),
    placeComments: (id: string, told: wire.CommentsRequest, signal?: AbortSignal) =>
      http.post<wire.CommentMessage>(plate(id, '/changes/comments'), told, signal),
  }
}

function settings(http: Transport) {
  const hooks = (agent: string, what: string) => `/settings/hooks/${part(agent)}/${what}`
  return {
    getMe: (signal?: AbortSignal) => http.get<wire.TokenHolder>('/me', {}, signal),
    listTokens: listed<wire.TokenList, 'tokens'>(http, 'tokens'),
    getTeam: (signal?: AbortSignal) => http.get<wire.Team>('/team', {}, signal),
    createToken: (token: wire.TokenRequest) => http.post<wire.NewToken>('/tokens', token),
    createPairing: (request?: wire.PairingRequest) =>
      http.post<wire.PairingOffer>('/pairing', request),
    revokeToken: (id: string) => http.delete<wire.Token>(`/tokens/${part(id)}`),
    async listLimits(filters: { readonly sessionId?: string } = {}, signal?: AbortSignal) {
      return (await http.get<wire.LimitList>('/limits', filters, signal)).limits
    },
    setLimit: (name: string, number: number) =>
      http.put<wire.AgentLimit>(`/limits/${part(name)}`, { number }),
    removeLimit: (name: string) => http.delete<wire.AgentLimit>(`/limits/${part(name)}`),
    getServer: (signal?: AbortSignal) => http.get<wire.ServerFacts>('/server', {}, signal),
    async listHooks(signal?: AbortSignal) {
      return (await http.get<wire.HooksList>('/settings/hooks', {}, signal)).agents
    },
    installHooks: (agent: string, diff: string) =>
      http.post<wire.AgentHooks>(hooks(agent, 'install'), { diff }),
    removeHooks: (agent: string, diff: string) =>
      http.post<wire.AgentHooks>(hooks(agent, 'remove'), { diff }),
    testHooks: (agent: string) => http.post<wire.HookTest>(hooks(agent, 'test')),
  }
}

function interactions(http: Transport) {
  const post = (id: string, what: string, body?: unknown) =>
    http.post<wire.Interaction>(interaction(id, what), body)
  const page = (filters?: InteractionFilters, cursor?: string | null, signal?: AbortSignal) =>
    http.get<wire.InteractionsPage>('/interactions', { ...filters, cursor }, signal)
  return {
    async listInteractions(filters?: InteractionFilters, signal?: AbortSignal) {
      return (await page(filters, null, signal)).interactions
    },
    pageInteractions: page,
    getInteraction: (id: string, signal?: AbortSignal) =>
      http.get<wire.Interaction>(interaction(id), {}, signal),
    ask: (question: wire.AskRequest) => http.post<wire.Interaction>('/interactions', question),
    assign: (id: string, request?: wire.AssignRequest) => post(id, '/assign', request),
    claim: (id: string, claim: wire.ClaimRequest) => post(id, '/claim', claim),
    release: (id: string, by: string) => post(id, '/release', { by }),
    answer: (id: string, answer: wire.AnswerRequest) => post(id, '/answer', answer),
    complete: (id: string, end: wire.CompleteRequest) => post(id, '/complete', end),
    cancelInteraction: (id: string) => post(id, '/cancel'),
  }
}

function streams(http: Transport) {
  return {
    follow: (id: string, options: StreamOptions) =>
      new EventStream(
        (after, lastEvent, signal) =>
          http.open(session(id, '/events'), { lastEvent }, after, signal),
        options,
        true,
      ),
    followAll: (options: StreamOptions) =>
      new EventStream(
        (after, lastEvent, signal) => http.open('/stream', { lastEvent }, after, signal),
        options,
        false,
      ),
  }
}
