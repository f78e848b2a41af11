// Written by docs/generate.py from the classes of the server. Do not edit.

/** The number of the last item that was recorded, with all before it. */
export interface Acknowledged {
  readonly acknowledged: number
}

/** A coding agent's hooks, and what installing or removing them would change. found: whether the agent is installed on this machine. An empty diff means no change. */
export interface AgentHooks {
  readonly agent: string
  readonly title: string
  readonly found: boolean
  readonly path: string
  readonly state: 'current' | 'outdated' | 'elsewhere' | 'unusable' | 'absent'
  readonly transport: string | null
  readonly answers: boolean | null
  readonly problems: ReadonlyArray<string>
  readonly installDiff: string
  readonly removeDiff: string
}

/** A limit: how many agents with its name may run at once, and how many do. A name without a number is not limited. */
export interface AgentLimit {
  readonly name: string
  /** How many agents may run at once; null without a limit. */
  readonly number: number | null
  /** How many run now. More than `number` if it was lowered meanwhile. */
  readonly inUse: number
  /** How many wait for a slot. */
  readonly waiting: number
  /** The agents that run, then those that wait, in the order of the queue. At most 1000 for all limits together. */
  readonly slots: ReadonlyArray<AgentSlot>
}

/** An agent that has a slot of a limit, or waits for one. */
export interface AgentSlot {
  readonly sessionId: string
  /** The agent's run, as its events name it. */
  readonly run: string
  /** Whether it is still in the queue. */
  readonly waiting: boolean
  /** When it got the slot, or started to wait. */
  readonly since: string
}

/** An agent to start in the background. folder: an absolute path on that machine; can be left out to resume a plate. host: the machine's id or name; by default the server's own. resume: a plate, or a session's id. */
export interface AgentStartRequest {
  readonly agent?: string
  readonly folder?: string
  readonly prompt?: string | null
  readonly host?: string | null
  readonly resume?: string | null
}

/** An answer. */
export interface AnswerRequest {
  readonly value?: unknown
  readonly approved?: boolean | null
  readonly by?: string | null
}

/** The answer to each question. */
export interface Answers {
  readonly answers: Readonly<Record<string, unknown>>
}

/** One question to a person, with one id for life. */
export interface ApprovalInteraction {
  readonly id: string
  readonly sessionId: string | null
  readonly type: 'approval' | 'confirmation'
  readonly prompt: string
  readonly options: ReadonlyArray<string> | null
  readonly other: boolean
  readonly status: 'pending' | 'completed' | 'cancelled' | 'timeout' | 'failed' | 'approved' | 'rejected'
  readonly response: VerdictResponse | null
  readonly phase: string | null
  readonly deadline: string | null
  readonly claimedBy: string | null
  readonly claimedUntil: string | null
  readonly answeredBy: string | null
  readonly via: string | null
  readonly error: string | null
  readonly config: unknown
  readonly transcript: string | null
  readonly durationMs: number | null
  readonly createdAt: string
  readonly resolvedAt: string | null
  readonly answeredAs: string | null
  readonly accepted: VerdictResponse | null
  readonly receipt: 'pending' | 'delivered' | 'overruled' | 'lost' | null
  readonly assignees: ReadonlyArray<string> | null
  readonly assignedTo: ReadonlyArray<string> | null
  readonly workflow: string | null
  readonly sessionTitle: string | null
}

/** A question to people, standalone or in a session. */
export interface AskRequest {
  readonly sessionId?: string | null
  readonly type: 'approval' | 'choice' | 'confirmation' | 'select' | 'input' | 'interactive_session'
  readonly prompt: string
  readonly options?: ReadonlyArray<string> | null
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly key?: string | null
  readonly assignees?: ReadonlyArray<string> | null
}

/** Who is expected to answer: by default the caller; with null, no one in particular. */
export interface AssignRequest {
  readonly to?: string | null
  readonly by?: string | null
}

/** What keeps running after a turn. */
export interface Background {
  readonly id: string
  readonly kind: string
  readonly description: string
  readonly [further: string]: unknown
}

/** A budget in US dollars a day; null for none. utcOffset: the time zone of its days. timeZone: its name, such as `Europe/Berlin`, which counts instead. */
export interface BudgetRequest {
  readonly daily: number | null
  readonly utcOffset?: number
  readonly timeZone?: string | null
}

/** Why it is cancelled. */
export interface CancelRequest {
  readonly reason?: string | null
  readonly by?: string | null
}

/** Whether this request cancelled the session. */
export interface CancelResult {
  readonly wasCancelled: boolean
  readonly ok: true
}

/** A file that differs from the base. path: from the root of the working tree, raw: it may contain any character. old_path: where it was, if it was renamed. staged, unstaged: whether it differs from the last commit, and how; with neither, it was committed since. added, removed: lines; None for what has none that are counted. lfs: Git LFS has its content. too_large: its content is not compared. */
export interface ChangedFile {
  readonly path: string
  readonly oldPath: string | null
  readonly status: 'added' | 'modified' | 'deleted' | 'renamed' | 'type_changed' | 'conflicted'
  readonly staged: boolean
  readonly unstaged: boolean
  readonly added: number | null
  readonly removed: number | null
  readonly binary: boolean
  readonly submodule: boolean
  readonly lfs: boolean
  readonly tooLarge: boolean
}

/** A check of a pull request. url: its log, if it has a page. message: what can be sent to the agent about it, if it failed. */
export interface CheckRun {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'pending'
  readonly url: string | null
  readonly message: string | null
}

/** One question to a person, with one id for life. */
export interface ChoiceInteraction {
  readonly id: string
  readonly sessionId: string | null
  readonly type: 'choice' | 'select' | 'input'
  readonly prompt: string
  readonly options: ReadonlyArray<string> | null
  readonly other: boolean
  readonly status: 'pending' | 'completed' | 'cancelled' | 'timeout' | 'failed' | 'approved' | 'rejected'
  readonly response: ChoiceResponse | null
  readonly phase: string | null
  readonly deadline: string | null
  readonly claimedBy: string | null
  readonly claimedUntil: string | null
  readonly answeredBy: string | null
  readonly via: string | null
  readonly error: string | null
  readonly config: unknown
  readonly transcript: string | null
  readonly durationMs: number | null
  readonly createdAt: string
  readonly resolvedAt: string | null
  readonly answeredAs: string | null
  readonly accepted: ChoiceResponse | null
  readonly receipt: 'pending' | 'delivered' | 'overruled' | 'lost' | null
  readonly assignees: ReadonlyArray<string> | null
  readonly assignedTo: ReadonlyArray<string> | null
  readonly workflow: string | null
  readonly sessionTitle: string | null
}

/** The chosen option or text, or the default after the deadline. */
export interface ChoiceResponse {
  readonly value?: string
  readonly timedOut?: boolean
}

/** Who works on a question, and for how long no one else can claim it. */
export interface ClaimRequest {
  readonly by: string
  readonly ttlMs?: number
}

/** Comments as one message for the agent, and where their lines are now. */
export interface CommentMessage {
  readonly text: string
  readonly comments: ReadonlyArray<CommentPlace>
}

/** A comment on a line of a diff; `excerpt` is the line as its author saw it. */
export interface CommentOnLine {
  readonly path: string
  readonly side?: 'old' | 'new'
  readonly line: number
  readonly text: string
  readonly excerpt: string
}

/** Where a comment's line is now. line: None if it is `outdated`, which means that it changed. index: which comment, as they were given. */
export interface CommentPlace {
  readonly index: number
  readonly line: number | null
  readonly outdated: boolean
}

/** Comments that become one message. */
export interface CommentsRequest {
  readonly comments: ReadonlyArray<CommentOnLine>
  readonly since?: string
}

/** A commit that was made since the session started. id: its whole hash. */
export interface CommitMade {
  readonly id: string
  readonly subject: string
  readonly author: string
  readonly at: string
}

/** What the working tree is compared with. kind: `commit` if there is no snapshot, which `note` says. id: of a turn, or a commit. late, partial: as a turn's. commit: what was checked out. */
export interface ComparedTo {
  readonly kind: 'session' | 'turn' | 'commit'
  readonly id: string | null
  readonly at: string | null
  readonly late: number
  readonly partial: number
  readonly commit: string | null
  readonly note: string | null
}

/** The end of an interactive session. */
export interface CompleteRequest {
  readonly outcome: 'completed' | 'approved' | 'rejected' | 'cancelled' | 'timeout' | 'failed'
  readonly response?: unknown
  readonly transcript?: string | null
  readonly durationMs?: number | null
  readonly error?: string | null
  readonly by?: string | null
}

/** One step of a conversation. id: the same whenever it is read, and unique in its conversation. cut: whether the page has only the start of its texts. */
export interface ConversationItem {
  readonly id: string
  readonly at: string | null
  readonly kind: 'prompt' | 'reply' | 'thinking' | 'tool' | 'compaction' | 'notice' | 'usage'
  readonly author: 'person' | 'program' | 'model' | 'client'
  readonly text: string
  readonly tool?: ToolRun | null
  readonly usage?: TokenUsage | null
  readonly images: ReadonlyArray<ItemImage>
  readonly cut: boolean
}

/** Items with the searched text, newest first. before: where to continue; None: all. */
export interface ConversationMatches {
  readonly found: ReadonlyArray<FoundItem>
  readonly before: string | null
}

/** A part of a conversation, in order. An item that is known already replaces or completes it. before: where the part before this ends; None at the start. after: where the part after this starts, for reading what comes later. restarted: whether the transcript was rewritten, so that the cursor that was given means nothing anymore and this is its end. */
export interface ConversationPage {
  readonly items: ReadonlyArray<ConversationItem>
  readonly before: string | null
  readonly after: string
  readonly restarted: boolean
}

/** The budget for a day, and what was spent today. daily: in US dollars; None: no budget. limit: at how much people are asked today; more than `daily` if someone raised it for today. day: today, in the time zone of the budget, such as `2026-01-31`. utc_offset: that time zone now, in minutes east of UTC. interaction_id: the open question about it. time_zone: its name, if it is known. */
export interface DailyBudget {
  readonly daily: number | null
  readonly limit: number | null
  readonly spent: number
  readonly unpricedTokens: number
  readonly day: string
  readonly utcOffset: number
  readonly interactionId: string | null
  readonly timeZone?: string | null
}

/** The runs that started on one day, by their current status. */
export interface DayOfRuns {
  /** The date, at the offset from UTC that was asked for. */
  readonly day: string
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  /** Running, waiting or paused. */
  readonly active: number
}

/** Lines that follow each other. heading: the function that they are in, as git finds it. */
export interface DiffHunk {
  readonly oldStart: number
  readonly newStart: number
  readonly heading: string
  readonly lines: ReadonlyArray<DiffLine>
}

/** A line of a diff. old, new: its numbers; None on the side where it isn't. no_newline: whether the file ends with it and without a line break. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
  readonly old: number | null
  readonly new: number | null
  readonly noNewline: boolean
}

/** A transition from one phase to another, and whether it is always taken or only sometimes. */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly taken: 'always' | 'sometimes'
}

/** One operation of a JSON Patch (RFC 6902) on the state. */
export interface Edit {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  readonly path: string
  readonly value?: unknown
  readonly from?: string | null
}

/** Something that happened, at its position in a session's stream. */
export interface EventEnvelope {
  readonly id: string
  readonly sessionId: string
  readonly position: number
  readonly name: string
  readonly version: number
  readonly payload: Readonly<Record<string, unknown>>
  readonly timestamp: string
  readonly causedBy: string | null
  readonly _tag: string
}

/** Events in order; `nextAfter` is set if there are more. */
export interface EventsPage {
  readonly events: ReadonlyArray<EventEnvelope>
  readonly nextAfter?: number | null
}

/** The format of every error. */
export interface Failure {
  readonly error: Problem
}

/** One file's diff. cut: whether hunks are missing because it is too long. */
export interface FileChanges {
  readonly file: ChangedFile
  readonly base: ComparedTo
  readonly hunks: ReadonlyArray<DiffHunk>
  readonly cut: boolean
}

/** What a tool changed in a file: a unified diff without its header, or "" if it is unknown. */
export interface FileEdit {
  readonly path: string
  readonly diff: string
}

/** A point in a session; by default, its end. */
export interface ForkAt {
  readonly phase?: string | null
  readonly occurrence?: number | 'first' | 'last' | null
  readonly eventIndex?: number | null
  readonly position?: number | null
}

/** Where to start over, with which changes. */
export interface ForkRequest {
  readonly at?: ForkAt | null
  readonly edits?: ReadonlyArray<Edit>
  readonly run?: boolean
  readonly sessionId?: string | null
  readonly by?: string | null
}

/** The result of a fork. */
export interface ForkResult {
  readonly sessionId: string
  readonly originalSessionId: string
  readonly eventsCopied: number
  readonly position: number
}

/** An item that has what was searched for. at_cursor: `before` of a page that ends with it. */
export interface FoundItem {
  readonly id: string
  readonly kind: 'prompt' | 'reply' | 'thinking' | 'tool' | 'compaction' | 'notice' | 'usage'
  readonly at: string | null
  readonly excerpt: string
  readonly atCursor: string
}

/** The server is up. It says nothing else, because anyone can ask. */
export interface Health {
  readonly status: 'ok'
}

/** It was recorded. */
export interface Heard {
  readonly status: 'ok'
}

/** Hooks that have not been read yet. oldest_at: when the first of them was left there. */
export interface HookBacklog {
  readonly hooks: number
  readonly oldestAt: string | null
}

/** The diff that was shown. If the change would be different by now, nothing is done. */
export interface HookChange {
  readonly diff: string
}

/** Whether a test payload arrived by the same path as an agent's. */
export interface HookTest {
  readonly arrived: boolean
  readonly durationMs: number
}

/** The hooks of every coding agent. */
export interface HooksList {
  readonly agents: ReadonlyArray<AgentHooks>
}

/** What a machine says about itself. clock_ahead_ms: how far its clock is ahead of the server's, give or take half of took_ms. waiting: reports that the server doesn't have yet. spooled: hooks that the relay has not taken. agents: those for which hooks were installed that report there. */
export interface HostCheck {
  readonly id: string
  readonly version: string
  readonly clockAheadMs: number
  readonly tookMs: number
  readonly waiting: number
  readonly spooled: number
  readonly agents: ReadonlyArray<string>
}

/** The last lines of a relay's log, oldest first. */
export interface HostLog {
  readonly lines: ReadonlyArray<string>
}

/** How many of the last lines to read. */
export interface HostLogRequest {
  readonly lines?: number
}

/** An answer: to the question `id`, to the only open one, or as an event. */
export type InputRequest =
  | unknown
  | unknown
  | unknown

/** One question to a person, with one id for life. */
export type Interaction =
  | ApprovalInteraction
  | ChoiceInteraction
  | InteractiveSessionInteraction
  | PermissionInteraction
  | QuestionInteraction

/** One page of questions, and where the next one starts, if there is one. */
export interface InteractionsPage {
  readonly interactions: ReadonlyArray<Interaction>
  readonly nextCursor: string | null
}

/** One question to a person, with one id for life. */
export interface InteractiveSessionInteraction {
  readonly id: string
  readonly sessionId: string | null
  readonly type: 'interactive_session'
  readonly prompt: string
  readonly options: ReadonlyArray<string> | null
  readonly other: boolean
  readonly status: 'pending' | 'completed' | 'cancelled' | 'timeout' | 'failed' | 'approved' | 'rejected'
  readonly response: unknown
  readonly phase: string | null
  readonly deadline: string | null
  readonly claimedBy: string | null
  readonly claimedUntil: string | null
  readonly answeredBy: string | null
  readonly via: string | null
  readonly error: string | null
  readonly config: unknown
  readonly transcript: string | null
  readonly durationMs: number | null
  readonly createdAt: string
  readonly resolvedAt: string | null
  readonly answeredAs: string | null
  readonly accepted: unknown
  readonly receipt: 'pending' | 'delivered' | 'overruled' | 'lost' | null
  readonly assignees: ReadonlyArray<string> | null
  readonly assignedTo: ReadonlyArray<string> | null
  readonly workflow: string | null
  readonly sessionTitle: string | null
}

/** An image in a conversation. data: Base64, or None if it is too large for a page. */
export interface ItemImage {
  readonly mediaType: string
  readonly data: string | null
}

/** The limits that have a number or are in use, by name. */
export interface LimitList {
  readonly limits: ReadonlyArray<AgentLimit>
}

/** How many agents may run at once. */
export interface LimitRequest {
  readonly number: number
}

/** A code that opens the dashboard, once. */
export interface Link {
  readonly code: string
  readonly expiresAt: string
}

/** What the sign-in link allows; `admin` lasts for an hour. */
export interface LinkRequest {
  readonly scope?: 'operate' | 'admin'
}

/** What to change; omitted fields stay as they are. */
export interface MessageChange {
  readonly text?: string | null
  readonly when?: 'now' | 'after_turn' | null
  /** Move it before this message, or with an empty text to the end. */
  readonly before?: string | null
}

/** A message to a coding agent. It is always sent as text, never run as a command. */
export interface MessageRequest {
  readonly text: string
  /** At its next opportunity, or after its turn. */
  readonly when?: 'now' | 'after_turn'
  /** The question in which a person approved exactly this message, as `callboard mcp` asks it. Messages of coding agents need one. It sends one message; again, it returns what became of that one. */
  readonly approval?: string | null
  /** One of your own: the same message with the same key is queued once. Send it again if the reply was lost. */
  readonly key?: string | null
}

/** A new token with its secret, which is not stored and never shown again. */
export interface NewToken {
  readonly token: Token
  readonly secret: string
}

/** Done. */
export interface Ok {
  readonly ok: true
}

/** The number of runs, by their current status. */
export interface Outcomes {
  readonly runs: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  /** Running, waiting or paused. */
  readonly active: number
  /** The share of runs that completed, of those that completed or failed, from 0 to 1; null without any. */
  readonly successRate: number | null
  /** Tokens used, as far as agents report them. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Every day of the period, oldest first. */
  readonly perDay: ReadonlyArray<DayOfRuns>
}

/** How the runs of all workflows went. */
export interface Overview {
  readonly since: string
  readonly days: number
  /** Whether there were more than 100,000 runs; if so, only the newest are counted. */
  readonly limited: boolean
  readonly total: Outcomes
  /** The busiest first, at most 200, without workflows that had no runs. */
  readonly workflows: ReadonlyArray<WorkflowSummary>
}

/** A machine that has a code. host: its permanent id. name: what people call it. */
export interface PairRequest {
  readonly code: string
  readonly host: string
  readonly name: string
}

/** What a machine gets for a code. token: the secret, which is shown only here. */
export interface Paired {
  readonly token: string
  readonly host: string
}

/** A code that one machine can use once, and how. */
export interface PairingOffer {
  readonly code: string
  readonly expiresAt: string
  /** To be run on that machine. */
  readonly command: string
  /** The command as a QR code: rows of squares, `1` for dark. */
  readonly qr: ReadonlyArray<string>
}

/** A code to create. server: its address for the machine that will use the code. */
export interface PairingRequest {
  readonly server?: string
}

/** How to pause. */
export interface PauseRequest {
  readonly interrupt?: boolean
  readonly reason?: string | null
  readonly by?: string | null
}

/** Whether this request paused the session. */
export interface PauseResult {
  readonly wasPaused: boolean
  readonly ok: true
}

/** One question to a person, with one id for life. */
export interface PermissionInteraction {
  readonly id: string
  readonly sessionId: string | null
  readonly type: 'permission' | 'plan'
  readonly prompt: string
  readonly options: ReadonlyArray<string> | null
  readonly other: boolean
  readonly status: 'pending' | 'completed' | 'cancelled' | 'timeout' | 'failed' | 'approved' | 'rejected'
  readonly response: RulingResponse | null
  readonly phase: string | null
  readonly deadline: string | null
  readonly claimedBy: string | null
  readonly claimedUntil: string | null
  readonly answeredBy: string | null
  readonly via: string | null
  readonly error: string | null
  readonly config: unknown
  readonly transcript: string | null
  readonly durationMs: number | null
  readonly createdAt: string
  readonly resolvedAt: string | null
  readonly answeredAs: string | null
  readonly accepted: RulingResponse | null
  readonly receipt: 'pending' | 'delivered' | 'overruled' | 'lost' | null
  readonly assignees: ReadonlyArray<string> | null
  readonly assignedTo: ReadonlyArray<string> | null
  readonly workflow: string | null
  readonly sessionTitle: string | null
}

/** A phase of a workflow. */
export interface Phase {
  readonly name: string
  readonly agent: string | null
  readonly human: boolean
  readonly terminal: boolean
  readonly leadsTo: ReadonlyArray<string> | null
  /** The limit of its agents, if it names one. */
  readonly limit: string | null
}

/** Everything the board knows about one client process. Times are milliseconds. session_id: the client's current session; after `/clear`, it is another one on the same plate. status_at: when the event happened that the status comes from. host: the id of the machine that it runs on; host_name: what people call it. pid, proc_start, boot_id: the process that runs the session, and in which boot of the system. client_pid, client_start: the terminal's process, if sessions run in a daemon. background: what keeps running by itself: [{id, kind, description}]. ended: how its last session ended, while it is closed. relayed: the number of the last report from its host's relay; "" without a relay. */
export interface Plate {
  readonly plateId: string
  readonly agent: string
  readonly sessionId: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly status: 'starting' | 'running' | 'idle' | 'awaiting_input' | 'awaiting_approval' | 'error' | 'closed'
  readonly pid: number | null
  readonly procStart: string | null
  readonly clientPid: number | null
  readonly clientStart: string | null
  readonly host: string
  readonly hostName: string
  readonly projectPath: string
  readonly gitBranch: string | null
  readonly transcriptPath: string | null
  readonly tmuxTarget: string | null
  readonly model: string | null
  readonly lastEvent: string
  readonly lastTool: string | null
  readonly lastMessage: string | null
  readonly prompt: string | null
  readonly error: string | null
  readonly ended: string | null
  readonly name: string | null
  readonly pinned: boolean
  readonly unseen: boolean
  readonly interrupted: boolean
  readonly dismissed: boolean
  readonly todos: ReadonlyArray<Todo>
  readonly attention: boolean
  readonly waitingFor: string | null
  readonly interactionId: string | null
  readonly todoProgress: string | null
  readonly background: ReadonlyArray<Background>
}

/** What to change; omitted fields stay as they are. */
export interface PlateChange {
  readonly name?: string | null
  readonly pinned?: boolean | null
  readonly seen?: boolean | null
}

/** Whether the client was told to stop its turn. note: why not, as a sentence. */
export interface PlateInterrupted {
  readonly wasInterrupted: boolean
  readonly note: string | null
  readonly ok: true
}

/** A message to a coding agent, and its receipt. by: who wrote it. via: where. way: how it is or was handed over; None while it is queued. authority: whether the model takes it as its person's own words; None while that is unknown. note: why it waits, is held or was lost, as a sentence. attempt: how often it was handed over. session, pid, proc_start: the client's session that it was handed to, and its process. closed_at: when its receipt was final. */
export interface PlateMessage {
  readonly id: string
  readonly plateId: string
  readonly text: string
  readonly when: 'now' | 'after_turn'
  readonly status: 'queued' | 'handed' | 'held' | 'delivered' | 'seen' | 'withdrawn' | 'lost'
  readonly createdAt: string
  readonly by: string | null
  readonly via: string | null
  readonly way: string | null
  readonly authority: boolean | null
  readonly note: string | null
  readonly attempt: number
  readonly handedAt: string | null
  readonly deliveredAt: string | null
  readonly seenAt: string | null
  readonly closedAt: string | null
}

/** The messages to a session: past ones, then those that wait, in their order. reach: whether and how the session can be reached now. */
export interface PlateMessages {
  readonly messages: ReadonlyArray<PlateMessage>
  readonly reach: Reach
}

/** The board: plates that need a person first, then the most recently changed. */
export interface Plates {
  readonly plates: ReadonlyArray<Plate>
}

/** An error, as events record it. Other keys, such as `sessionId`, depend on the code. */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly type?: string
  readonly phase?: string
  readonly where?: string
  readonly traceback?: string
  readonly [further: string]: unknown
}

/** A client's process, as far as its wrapper knows it. */
export interface ProcessRequest {
  readonly project_path: string
  readonly agent?: string
  readonly session_id?: string | null
  readonly pid?: number | null
  readonly proc_start?: string | null
  readonly [further: string]: unknown
}

/** The pull request of the branch, as `gh` knows it. at: when it was read. */
export interface PullRequest {
  readonly number: number
  readonly title: string
  readonly url: string
  readonly state: 'open' | 'draft' | 'merged' | 'closed'
  readonly checks: ReadonlyArray<CheckRun>
  readonly at: string
}

/** One question to a person, with one id for life. */
export interface QuestionInteraction {
  readonly id: string
  readonly sessionId: string | null
  readonly type: 'question'
  readonly prompt: string
  readonly options: ReadonlyArray<string> | null
  readonly other: boolean
  readonly status: 'pending' | 'completed' | 'cancelled' | 'timeout' | 'failed' | 'approved' | 'rejected'
  readonly response: Answers | RulingResponse | null
  readonly phase: string | null
  readonly deadline: string | null
  readonly claimedBy: string | null
  readonly claimedUntil: string | null
  readonly answeredBy: string | null
  readonly via: string | null
  readonly error: string | null
  readonly config: unknown
  readonly transcript: string | null
  readonly durationMs: number | null
  readonly createdAt: string
  readonly resolvedAt: string | null
  readonly answeredAs: string | null
  readonly accepted: Answers | RulingResponse | null
  readonly receipt: 'pending' | 'delivered' | 'overruled' | 'lost' | null
  readonly assignees: ReadonlyArray<string> | null
  readonly assignedTo: ReadonlyArray<string> | null
  readonly workflow: string | null
  readonly sessionTitle: string | null
}

/** Whether and how a session can be reached at this moment. way: None if there is none now. authority: whether the model takes the message as its person's own words. note: when it will be reached or why it can't be, as a sentence for people. */
export interface Reach {
  readonly way: 'inbox' | 'app_server' | 'plugin' | 'hook' | 'terminal' | 'prompt' | null
  readonly authority: boolean
  readonly note: string | null
}

/** An `input:received` event as other clients build it; only its payload counts. */
export interface ReceivedRequest {
  readonly name?: 'input:received' | null
  readonly payload: Readonly<Record<string, unknown>>
}

/** One run that has ended. */
export interface RecentRun {
  readonly sessionId: string
  readonly status: 'pending' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled'
  readonly createdAt: string
  readonly durationMs: number
}

/** A relay that asks for commands. holds: the questions whose hooks wait there. powers: what that machine lets servers do. secret: that of the relay, which its first connection with a token names. */
export interface RelayHello {
  readonly name: string
  readonly bootId?: string
  readonly version?: string
  readonly holds?: ReadonlyArray<string>
  readonly powers?: ReadonlyArray<string>
  readonly secret?: string
}

/** A machine with a relay. connected: whether it can be reached now. seen_at: if not, when it last could. version: of Callboard on that machine. powers: what it lets servers do there, besides deciding. contested_at: when someone last used its token without its relay's secret, and was refused. */
export interface RelayHost {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly connected: boolean
  readonly seenAt: string
  readonly powers: ReadonlyArray<string>
  readonly contestedAt: string | null
}

/** The machines with a relay, by name. */
export interface RelayHostList {
  readonly hosts: ReadonlyArray<RelayHost>
}

/** Who releases a claim: its holder. */
export interface ReleaseRequest {
  readonly by: string
}

/** An event of a client's session. */
export interface ReportRequest {
  readonly session_id: string
  readonly event_type: string
  readonly project_path?: string | null
  readonly cwd?: string | null
  readonly agent?: string
  readonly tool_name?: string | null
  readonly tool_input?: unknown
  readonly tool_params?: unknown
  readonly transcript_path?: string | null
  readonly git_branch?: string | null
  readonly tmux_target?: string | null
  readonly error?: string | null
  readonly timestamp?: string | number | null
  readonly [further: string]: unknown
}

/** Who resumes it. */
export interface ResumeRequest {
  readonly by?: string | null
}

/** Whether this request resumed the session. */
export interface ResumeResult {
  readonly wasResumed: boolean
  readonly ok: true
}

/** Where to retry from, with which changes; without `at`, from the failed phase. */
export interface RetryRequest {
  readonly at?: ForkAt | null
  readonly edits?: ReadonlyArray<Edit>
  readonly run?: boolean
  readonly sessionId?: string | null
  readonly by?: string | null
}

/** Yes or no, with a message for a no, or a rule for the future with a yes. */
export interface RulingResponse {
  readonly approved: boolean
  readonly message?: string
  readonly feedback?: string
  readonly always?: boolean
  readonly updatedInput?: Readonly<Record<string, unknown>>
}

/** The server and its database. `database` is null when everything is in memory. */
export interface ServerFacts {
  readonly version: string
  readonly address: string
  readonly startedAt: string
  readonly database: string | null
  readonly databaseBytes: number
  readonly events: number
  readonly schemaVersion: number
  /** The command that opens the dashboard, on the server's machine. */
  readonly signIn: string
}

/** A session's current status. `running` says whether a living process drives it now. `pending` has its oldest open questions, usually all of them. `pending_count` is their total; `inbox(session_id)` returns all. */
export interface Session {
  readonly sessionId: string
  readonly workflow: string
  readonly version: string | null
  readonly status: 'pending' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled'
  readonly running: boolean
  readonly phase: string | null
  readonly position: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly parent: string | null
  readonly forkPosition: number | null
  /** Its oldest open questions: at most 3 in a list, 100 for a single session. `GET /interactions?sessionId=…&status=pending` lists all of them. */
  readonly pending: ReadonlyArray<Interaction>
  readonly error: Problem | null
  readonly held: string | null
  /** Phases completed, such as `3/5`, if its status files show that. */
  readonly progress: string | null
  /** How many questions are open. */
  readonly pendingCount: number
  /** What people call it, from the workflow or the caller; null if it has no title. */
  readonly title: string | null
}

/** What to change about a session: its title; null or empty removes it. */
export interface SessionChange {
  readonly title: string | null
  readonly by?: string | null
}

/** One page of sessions, newest first, and where the next one starts, if there are more. */
export interface SessionsPage {
  readonly sessions: ReadonlyArray<Session>
  readonly nextCursor: string | null
}

/** The median and the 95th percentile of some durations. */
export interface Spread {
  /** The median, in milliseconds. */
  readonly p50: number
  /** The 95th percentile, in milliseconds. */
  readonly p95: number
  /** The number of durations. */
  readonly count: number
}

/** A session to start. */
export interface StartRequest {
  readonly workflowId?: string | null
  readonly input?: unknown
  readonly sessionId?: string | null
  readonly title?: string | null
}

/** The session that was started. */
export interface Started {
  readonly sessionId: string
}

/** An agent that was started. warning: what its person should know, as a sentence. */
export interface StartedPlate {
  readonly plate: Plate
  readonly warning: string | null
}

/** A state, its position, and how many events were folded for it. */
export interface StateAt {
  readonly state: unknown
  readonly position: number
  readonly eventsReplayed: number
}

/** How many plates this closed. */
export interface Stopped {
  readonly count: number
  readonly status: 'ok'
}

/** A session that has work to do and that no running worker can drive. */
export interface StrandedSession {
  readonly sessionId: string
  readonly title: string | null
  readonly workflow: string
  readonly version: string | null
  readonly phase: string | null
  /** When something last happened in it. */
  readonly since: string
  readonly reason: string
  readonly nextStep: string
}

/** People by name, and hosts: first the server's own, then the others by name. */
export interface Team {
  readonly people: ReadonlyArray<TeamMember>
  readonly hosts: ReadonlyArray<TeamHost>
}

/** A machine that coding agents have reported from, or that a token is limited to. */
export interface TeamHost {
  readonly id: string
  readonly name: string
  /** Whether the server that answers runs on it. */
  readonly isServer: boolean
  /** Coding agent sessions that are not closed. */
  readonly plateCount: number
  readonly tokenCount: number
  /** Whether it can be reached; null if it has no relay. */
  readonly connected: boolean | null
  /** When it was last reached, or a session on it changed if it has no relay. */
  readonly lastSeen: string | null
}

/** Someone who has a token, or has signed in to the dashboard in the last 90 days. */
export interface TeamMember {
  readonly person: string
  /** The highest that a token or sign-in gives them. */
  readonly scope: 'hook' | 'read' | 'answer' | 'operate' | 'admin'
  readonly groups: ReadonlyArray<string>
  readonly tokenCount: number
  /** Their last sign-in, to the hour. */
  readonly lastSeen: string | null
  /** Whether a proxy signed them in. */
  readonly byProxy: boolean
}

/** One entry of the agent's to-do list. */
export interface Todo {
  readonly text: string
  readonly status: string
}

/** What is stored of an access token: everything except its secret. name: recorded with everything that the token is used for. person: who the token stands for when questions are assigned to people. host: the machine whose coding agents it reports, if it is limited to one. */
export interface Token {
  readonly id: string
  readonly name: string
  readonly person: string
  readonly scope: 'hook' | 'read' | 'answer' | 'operate' | 'admin'
  readonly groups: ReadonlyArray<string>
  readonly host: string | null
  readonly createdAt: string
  readonly expiresAt: string | null
}

/** Who a caller is: the recorded name, the person it stands for, and what they may do. sign_out_url: where to sign out, if a proxy signed them in. */
export interface TokenHolder {
  readonly name: string
  readonly person: string
  readonly scope: 'hook' | 'read' | 'answer' | 'operate' | 'admin'
  readonly groups: ReadonlyArray<string>
  readonly signOutUrl?: string | null
}

/** The tokens that are not revoked, oldest first. */
export interface TokenList {
  readonly tokens: ReadonlyArray<Token>
}

/** A token to create; `person` defaults to the name. */
export interface TokenRequest {
  readonly name: string
  readonly scope: 'hook' | 'read' | 'answer' | 'operate' | 'admin'
  readonly person?: string | null
  readonly groups?: ReadonlyArray<string>
  readonly host?: string | null
  readonly expiresInMs?: number | null
}

/** What one call of a model took. cost: in US dollars, if the client says. long_cache_write_tokens: those of cache_write_tokens that the provider keeps for an hour. call: the call's id. A page has the usage of a call once, with the call's last item; where a later page has it again, that is what counts. */
export interface TokenUsage {
  readonly model: string | null
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly cost: number | null
  readonly call: string | null
  readonly longCacheWriteTokens: number
}

/** A tool call and its result. name: empty if the item only has the result of a call that is on another page: join them by the item's id. command: of a tool that runs one. subagent: the conversation that this call started. */
export interface ToolRun {
  readonly name: string
  readonly input: unknown
  readonly command: string | null
  readonly result: string | null
  readonly status: 'running' | 'done' | 'failed' | 'denied'
  readonly edits: ReadonlyArray<FileEdit>
  readonly subagent: string | null
}

/** A turn of the session, of which the working tree at its start is known. id: for `since`. at: when it started. late: how many milliseconds later its snapshot was taken. partial: how many files were too large or too many for the snapshot. */
export interface TurnMark {
  readonly id: string
  readonly at: string
  readonly late: number
  readonly prompt: string | null
  readonly partial: number
}

/** A part of a row: one model or agent. */
export interface UsagePart {
  readonly key: string
  readonly label: string
  readonly used: UsageSum
}

/** What agents have used over the last days, including today. limited: there was more than could be counted. prices_date: when the prices were valid. prices_source: the file that they are from; empty for those that come with Callboard. unpriced_models: the models without a known price. uncounted_hosts: machines whose agents are not counted, because their owners don't let servers read there. */
export interface UsageReport {
  readonly since: string
  readonly days: number
  readonly by: 'day' | 'agent' | 'project' | 'plate' | 'model' | 'workflow'
  readonly rows: ReadonlyArray<UsageRow>
  readonly total: UsageSum
  readonly limited: boolean
  readonly pricesDate: string
  readonly pricesSource: string
  readonly unpricedModels: ReadonlyArray<string>
  readonly uncountedHosts: ReadonlyArray<string>
  readonly budget: DailyBudget
}

/** One day, agent, project, plate, model or workflow. key: a day is `2026-01-31`, a plate its id. parts: what it consists of, if the report is split. */
export interface UsageRow {
  readonly key: string
  readonly label: string
  readonly used: UsageSum
  readonly parts: ReadonlyArray<UsagePart>
}

/** Tokens, and what they cost in US dollars. input_tokens: without those that were read from or written to a cache, which have other prices. cost: of the tokens whose price is known; None if none is. unpriced_tokens: the others. */
export interface UsageSum {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly calls: number
  readonly cost: number | null
  readonly unpricedTokens: number
}

/** The answer to an approval or a confirmation, or its default after the deadline. */
export interface VerdictResponse {
  readonly value?: 'yes' | 'no'
  readonly approved?: boolean
  readonly message?: string
  readonly timedOut?: boolean
}

/** A process that drives sessions, or can: a worker, a server, or a program. */
export interface WorkerInfo {
  readonly id: string
  readonly host: string
  readonly pid: number
  /** When it opened the database; null if that is not known. */
  readonly since: string | null
  /** Whether it is running. A dead worker is listed for about a minute. */
  readonly alive: boolean
  /** Its id in the engine that gives it work, if it has one. */
  readonly engineWorker: string | null
  readonly workflows: ReadonlyArray<WorkflowVersion>
  /** The sessions that it drives, at most 20. */
  readonly sessions: ReadonlyArray<WorkerSession>
  readonly sessionCount: number
}

/** The workers of a database, and the sessions that none of them can drive. */
export interface WorkerOverview {
  /** Those that are running first; at most 200. */
  readonly workers: ReadonlyArray<WorkerInfo>
  /** How many workers are running. */
  readonly workerCount: number
  /** How many sessions are driven now. */
  readonly drivenCount: number
  /** How many sessions wait for a worker that can drive them. */
  readonly readyCount: number
  /** The longest stranded first; at most 100. */
  readonly stranded: ReadonlyArray<StrandedSession>
  readonly strandedCount: number
  /** Whether there were more than 1,000 sessions to look at; if so, the counts are too low. */
  readonly limited: boolean
  /** The command that starts a worker; FILE has its workflows. */
  readonly startCommand: string
}

/** A session that a worker drives now. */
export interface WorkerSession {
  readonly sessionId: string
  readonly title: string | null
  readonly workflow: string
  readonly phase: string | null
  /** When it entered its phase, or when it was created if it has none yet. */
  readonly since: string | null
}

/** A workflow that a server runs. */
export interface Workflow {
  readonly id: string
  readonly version: string | null
  readonly inputSchema: Readonly<Record<string, unknown>> | null
  readonly phases: ReadonlyArray<Phase>
  /** What `start` calls its input; null without one. */
  readonly inputName: string | null
  /** The first paragraph of `start`'s docstring, if it takes an input. */
  readonly inputAbout: string | null
  readonly edges: ReadonlyArray<Edge>
}

/** How the runs of one workflow went. */
export interface WorkflowStats {
  readonly runs: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  /** Running, waiting or paused. */
  readonly active: number
  /** The share of runs that completed, of those that completed or failed, from 0 to 1; null without any. */
  readonly successRate: number | null
  /** Tokens used, as far as agents report them. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Every day of the period, oldest first. */
  readonly perDay: ReadonlyArray<DayOfRuns>
  readonly workflow: string
  readonly since: string
  readonly days: number
  /** Whether there were more than 100,000 runs; if so, only the newest are counted. */
  readonly limited: boolean
  /** How long runs that completed took, from start to end: the newest 2,000. */
  readonly duration: Spread | null
  /** How long people took to answer, in the newest 2,000 runs. */
  readonly answerTime: Spread | null
  /** The newest runs that ended, at most 100. */
  readonly recent: ReadonlyArray<RecentRun>
  /** The newest run that failed. */
  readonly lastFailure: Session | null
}

/** One workflow in the overview. */
export interface WorkflowSummary {
  readonly runs: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  /** Running, waiting or paused. */
  readonly active: number
  /** The share of runs that completed, of those that completed or failed, from 0 to 1; null without any. */
  readonly successRate: number | null
  /** Tokens used, as far as agents report them. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Every day of the period, oldest first. */
  readonly perDay: ReadonlyArray<DayOfRuns>
  readonly workflow: string
  /** How long runs that completed took, from start to end. */
  readonly duration: Spread | null
}

/** A workflow that a worker has loaded. */
export interface WorkflowVersion {
  readonly name: string
  readonly version: string | null
}

/** The workflows that a server runs. */
export interface Workflows {
  readonly workflows: ReadonlyArray<Workflow>
}

/** What changed in a working tree. root: its folder. branch: None if none is checked out (`detached`), or the repository is empty. ahead, behind: commits, compared with `upstream`. state: an operation that is not finished. more: files that the list leaves out. commits: since the session started, newest first; more_commits: others. turns: newest last. snapshot_at: when the base was recorded. */
export interface WorktreeChanges {
  readonly root: string
  readonly branch: string | null
  readonly detached: boolean
  readonly upstream: string | null
  readonly ahead: number
  readonly behind: number
  readonly state: 'rebase' | 'merge' | 'cherry_pick' | 'revert' | 'bisect' | 'apply' | null
  readonly base: ComparedTo
  readonly files: ReadonlyArray<ChangedFile>
  readonly more: number
  readonly turns: ReadonlyArray<TurnMark>
  readonly commits: ReadonlyArray<CommitMade>
  readonly moreCommits: number
  readonly snapshotAt: string | null
  readonly readAt: string
  readonly pullRequest?: PullRequest | null
}
