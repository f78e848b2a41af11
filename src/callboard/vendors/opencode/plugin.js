// Tells Callboard what opencode does. Made by `callboard hooks install`; an update overwrites it.
//
// Nothing here may be noticed in the session: no call waits for us, none fails because of us. What
// happens is written into the spool, one file an event, in order. A question to the person is also
// sent to the server, which holds the request until somebody answers.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs"
import { randomBytes } from "node:crypto"
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"

const FOLDER = "@FOLDER@"
const ANSWERS = "@ANSWERS@"
const AGENT = "opencode"

const TOLD = new Set([
  "session.created",
  "session.updated",
  "session.deleted",
  "session.idle",
  "session.status",
  "session.error",
  "session.compacted",
  "todo.updated",
  "permission.asked",
  "permission.updated",
  "permission.replied",
  "question.asked",
  "question.replied",
  "question.rejected",
])
const ASKED = new Set(["permission.asked", "permission.updated", "question.asked"])
const RESOLVED = new Set(["permission.replied", "question.replied", "question.rejected"])
const LARGEST = 4_000_000
const MOST_SESSIONS = 1000
const MOST_SPOOLED = 10_000
const MOST_BYTES = 512 * 1024 * 1024
const MOST_WEIGHED = 300
const WEIGHED_EVERY = 20
const NO_SERVER_FOR_MS = 600_000
const TELL_AFTER_MS = 3000
const SOONEST_MS = 200
const LATEST_MS = 2000
const LOOKS_EVERY_MS = 5000
const LAST_MESSAGES = [20, 200, 2000]
const STAGES = ["taken", "given", "delivered", "seen"]

export const CallboardPlugin = async ({ client, directory }) => {
  try {
    const reporter = new Reporter(directory)
    return hooks(reporter, new Asker(client), new Mailbox(client, reporter))
  } catch {
    return {}
  }
}

function hooks(reporter, asker, mailbox) {
  return {
    event: quietly(({ event }) => {
      mailbox.heard(event)
      const told = reporter.heard(event)
      if (told === undefined) return
      if (RESOLVED.has(event.type)) asker.resolved(event.properties)
      if (ANSWERS && ASKED.has(event.type)) asker.ask(told, (left) => reporter.send(left))
      else reporter.send(told)
    }),
    "chat.message": quietly((input, output) => {
      const texts = (output?.parts ?? []).filter((part) => part.type === "text" && !part.synthetic)
      const prompt = texts.map((part) => part.text).join("\n")
      reporter.tell("chat.message", { sessionID: input.sessionID, model: input.model, prompt })
    }),
    "tool.execute.before": quietly((input, output) => {
      const { sessionID, tool, callID } = input
      reporter.tell("tool.execute.before", { sessionID, tool, callID, args: output?.args })
    }),
    "tool.execute.after": quietly((input) => {
      const { sessionID, tool, callID, args } = input
      reporter.tell("tool.execute.after", { sessionID, tool, callID, args })
    }),
  }
}

// A hook that returns at once, whatever happens in it.
function quietly(work) {
  return async (...given) => {
    try {
      work(...given)
    } catch {
      // There is nobody to tell.
    }
  }
}

// What is known of the sessions, and the way into the spool.
class Reporter {
  constructor(directory) {
    this.directory = directory
    this.sessions = new Map()
    this.count = 0
    this.start = procStart()
  }

  // The event as the board takes it; undefined for one that it does not need.
  heard(event) {
    if (!TOLD.has(event?.type)) return undefined
    const id = sessionOf(event)
    if (id === undefined) return undefined
    const session = this.session(id, event)
    if (event.type === "session.status") {
      const status = event.properties?.status?.type
      if (status === session.status) return undefined
      session.status = status
    }
    if (event.type === "session.updated") {
      const title = event.properties?.info?.title
      if (title === session.title) return undefined
      session.title = title
    }
    const told = this.told(event.type, event.properties, session)
    if (event.type === "session.error") session.error = event.properties?.error
    if (!isRest(event)) return told
    // The end of a turn is told in two ways, one after the other; once is enough.
    if (session.rests) return undefined
    session.rests = true
    return Object.assign(told, outcome(session))
  }

  tell(type, properties) {
    if (typeof properties?.sessionID !== "string") return
    this.send(this.told(type, properties, this.session(properties.sessionID)))
  }

  // A session that was not created before our eyes was taken up again.
  session(id, event) {
    let session = this.sessions.get(id)
    if (session !== undefined && isWork(event)) session.rests = false
    if (session === undefined) {
      const info = event?.properties?.info
      session = { parent: info?.parentID, title: info?.title }
      if (this.sessions.size >= MOST_SESSIONS) this.sessions.delete(this.sessions.keys().next().value)
      this.sessions.set(id, session)
      if (event?.type !== "session.created" && event?.type !== "session.deleted") {
        this.send(this.told("session.resumed", { sessionID: id }, session))
      }
    }
    return session
  }

  told(type, properties, session) {
    const told = { type, properties, directory: this.directory, callboard: this.facts() }
    if (session.parent) told.parent = session.parent
    return told
  }

  facts() {
    const facts = { pid: process.pid, sent_at: Date.now() }
    if (this.start) facts.proc_start = this.start
    if (process.env.TMUX_PANE) facts.tmux_pane = process.env.TMUX_PANE
    const branch = gitBranch(this.directory)
    if (branch) facts.git_branch = branch
    return facts
  }

  // At once: `opencode run` ends with its turn, and would not wait for what is still to be written.
  send(told) {
    drop(JSON.stringify(told), (this.count += 1))
  }
}

// Puts questions to the board, and its answers to opencode.
class Asker {
  constructor(client) {
    this.client = client
    this.open = new Map()
  }

  // `instead` tells the spool where no answer can come, or none for a while.
  ask(told, instead) {
    const id = told.properties?.id
    if (typeof id !== "string" || this.open.has(id)) return
    const asking = new AbortController()
    this.open.set(id, asking)
    this.wait(told, asking.signal, instead)
      .then((decision) => this.answer(decision, told.properties))
      .catch(() => undefined)
      .finally(() => this.open.delete(id))
  }

  // Somebody answered in the terminal: the server sees that nobody waits any more.
  resolved(properties) {
    for (const id of [properties?.requestID, properties?.permissionID]) {
      this.open.get(id)?.abort()
    }
  }

  async wait(told, signal, instead) {
    const hold = randomBytes(12).toString("hex")
    const held = { ...told, callboard: { ...told.callboard, hold } }
    const body = JSON.stringify(held)
    let pause = SOONEST_MS
    let aloneSince = Date.now()
    let isTold = false
    if (!(await isThere(join(FOLDER, "connection")))) {
      instead(told)
      return {}
    }
    while (!signal.aborted) {
      const began = Date.now()
      try {
        const [address, token] = await connection()
        const answer = await fetch(`http://${address}/hooks/${AGENT}`, {
          method: "POST",
          headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
          body,
          signal,
        })
        if (answer.ok) return await answer.json()
        await answer.body?.cancel()
      } catch {
        if (signal.aborted) break
      }
      // It held us for a while, so it was there, and knows what is asked.
      if (Date.now() - began >= LATEST_MS) {
        aloneSince = Date.now()
        isTold = true
      }
      const alone = Date.now() - aloneSince
      if (alone >= TELL_AFTER_MS && !isTold) {
        isTold = true
        // As it is sent, so that the board knows that both are the same request.
        instead(held)
      }
      if (alone > NO_SERVER_FOR_MS) break
      await new Promise((done) => setTimeout(done, pause).unref?.())
      pause = Math.min(LATEST_MS, pause * 1.5)
    }
    return {}
  }

  async answer(decision, asked) {
    const requestID = decision?.requestID
    if (requestID !== asked.id) return
    if (decision.answers !== undefined) {
      await this.post("question", requestID, { answers: decision.answers })
    } else if (decision.reject === true) {
      await this.post("question", requestID, {}, "reject")
    } else if (["once", "always", "reject"].includes(decision.reply)) {
      const { reply, message } = decision
      await this.post("permission", requestID, message ? { reply, message } : { reply })
    }
  }

  // Newer clients have a method for it, older ones only the request below.
  async post(kind, requestID, body, how = "reply") {
    if (typeof this.client?.[kind]?.[how] === "function") {
      await this.client[kind][how]({ requestID, ...body })
      return
    }
    await this.client?._client?.post({
      url: `/${kind}/{requestID}/${how}`,
      path: { requestID },
      body,
      headers: { "Content-Type": "application/json" },
    })
  }
}

// Gives the session what people wrote on the board. Each message is a file, and its name says what
// became of it: `.json`, then `.taken`, `.given`, `.delivered` and `.seen`, or `.refused`. It is
// renamed before it is given, so that it is given once, whatever happens.
class Mailbox {
  constructor(client, reporter) {
    this.client = client
    this.reporter = reporter
    this.given = new Map()
    this.modes = new Map()
    this.folder = join(FOLDER, "mailbox", `${AGENT}.${process.pid}`)
    try {
      this.open()
    } catch {
      // Nobody can write to it, and nobody will.
    }
  }

  // The process may have several of us, one for each folder; another one may have had its number.
  open() {
    const start = join(this.folder, "start")
    const own = String(this.reporter.start ?? "")
    if (!existsSync(start) || readFileSync(start, "utf8") !== own) {
      rmSync(this.folder, { recursive: true, force: true })
    }
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    watch(this.folder, { persistent: false }, () => this.look()).on("error", () => undefined)
    setInterval(() => this.look(), LOOKS_EVERY_MS).unref?.()
    writeFileSync(start, own, { mode: 0o600 })
    this.look()
  }

  look() {
    try {
      for (const file of readdirSync(this.folder)) {
        if (file.endsWith(".json")) this.take(file.slice(0, -5))
      }
    } catch {
      // It was removed.
    }
  }

  take(name) {
    try {
      const letter = JSON.parse(readFileSync(join(this.folder, `${name}.json`), "utf8"))
      const isOurs = letter.folder === this.reporter.directory
      if (!isOurs && !this.reporter.sessions.has(letter.sessionID)) return
      this.rename(name, "json", "taken")
      this.give(name, letter).catch(() => undefined)
    } catch {
      // Another took it, or it was taken back.
    }
  }

  // What fails without an answer stays taken: nobody knows what became of it.
  async give(name, letter) {
    const path = { id: letter.sessionID }
    if (letter.kind === "interrupt") {
      const done = await this.client.session.abort({ path })
      this.rename(name, "taken", done?.error === undefined ? "given" : "refused")
      return
    }
    const messageID = newMessageID(letter.tail)
    let mode
    try {
      mode = await this.mode(letter.sessionID)
    } catch {
      // Nothing was sent, so that it can be tried again.
      this.rename(name, "taken", "refused")
      return
    }
    const message = { name, stage: "taken", session: letter.sessionID }
    this.given.set(messageID, message)
    if (this.given.size > MOST_SESSIONS) this.given.delete(this.given.keys().next().value)
    const parts = [{ type: "text", text: letter.text }]
    const done = await this.client.session.promptAsync({ path, body: { ...mode, messageID, parts } })
    const status = done?.response?.status
    if (done?.error === undefined) this.advance(message, "given")
    else if (status >= 400 && status < 500) this.rename(name, "taken", "refused")
  }

  heard(event) {
    const { info, part } = event?.properties ?? {}
    if (event?.type === "message.part.updated") {
      if (part?.type === "step-start") this.answered(part.messageID)
    } else if (event?.type !== "message.updated") {
      return
    } else if (info?.role === "user") {
      this.modes.set(info.sessionID, modeOf(info))
      if (this.modes.size > MOST_SESSIONS) this.modes.delete(this.modes.keys().next().value)
      if (this.given.has(info.id)) this.advance(this.given.get(info.id), "delivered")
    } else if (info?.role === "assistant") {
      for (const [id, message] of this.given) {
        if (message.session === info.sessionID && id <= info.parentID) message.answer = info.id
      }
    }
  }

  // A reply is there up to a second before the model is asked for it, its first step once it answers.
  answered(reply) {
    for (const [id, message] of this.given) {
      if (message.answer !== reply) continue
      this.advance(message, "seen")
      this.given.delete(id)
    }
  }

  // As its person's last prompt: what they chose to plan only must not start to build.
  async mode(sessionID) {
    if (!this.modes.has(sessionID)) {
      const last = await this.lastPrompt(sessionID)
      this.modes.set(sessionID, last ? modeOf(last) : {})
    }
    return this.modes.get(sessionID)
  }

  // Not the whole session, unless its last prompt is that far back.
  async lastPrompt(sessionID) {
    for (const limit of LAST_MESSAGES) {
      const found = await this.client.session.messages({ path: { id: sessionID }, query: { limit } })
      if (found?.error !== undefined) throw new Error("no messages")
      const messages = (found?.data ?? []).map((one) => one.info)
      const prompt = messages.findLast((one) => one.role === "user")
      if (prompt || messages.length < limit) return prompt
    }
    throw new Error("no prompt")
  }

  advance(message, stage) {
    if (STAGES.indexOf(stage) <= STAGES.indexOf(message.stage)) return
    this.rename(message.name, message.stage, stage)
    message.stage = stage
  }

  rename(name, from, to) {
    renameSync(join(this.folder, `${name}.${from}`), join(this.folder, `${name}.${to}`))
  }
}

function modeOf({ agent, model }) {
  if (!model?.modelID) return agent ? { agent } : {}
  return { agent, model: { providerID: model.providerID, modelID: model.modelID } }
}

// As opencode makes them: their order is that of time.
function newMessageID(tail) {
  const now = BigInt(Date.now()) * 4096n + 4095n
  return `msg_${(now & 0xffffffffffffn).toString(16).padStart(12, "0")}${tail}`
}

async function connection() {
  const lines = (await readFile(join(FOLDER, "connection"), "utf8")).split("\n")
  if (!/^(localhost|[0-9.]+|\[[0-9a-f:.]+\]):[0-9]+$/.test(lines[0])) throw new Error("no address")
  return lines
}

function drop(body, number) {
  if (body.length > LARGEST) return
  const spool = join(FOLDER, "spool")
  const name = join(spool, `${AGENT}.${process.pid}.${number}-${randomBytes(4).toString("hex")}`)
  try {
    if (existsSync(join(spool, ".full"))) return
    mkdirSync(spool, { recursive: true, mode: 0o700 })
    writeFileSync(`${name}.part`, body, { mode: 0o600, flag: "wx" })
    renameSync(`${name}.part`, `${name}.json`)
    if (number % WEIGHED_EVERY === 1 && isFull(spool)) {
      writeFileSync(join(spool, ".full"), "", { mode: 0o600, flag: "wx" })
    }
  } catch {
    rmSync(`${name}.part`, { force: true })
  }
}

// Of many files some are weighed, and stand for the others.
function isFull(spool) {
  const names = readdirSync(spool)
  const weighed = names.slice(0, MOST_WEIGHED)
  const size = weighed.reduce((sum, name) => sum + lstatSync(join(spool, name)).size, 0)
  return names.length > MOST_SPOOLED || size * names.length > MOST_BYTES * weighed.length
}

// Calls of tools and prompts come without an event.
function isWork(event) {
  return event === undefined || (event.type === "session.status" && !isRest(event))
}

function isRest(event) {
  return event?.type === "session.idle" || event?.properties?.status?.type === "idle"
}

// How a turn ended: opencode tells that before it tells that it did.
function outcome(session) {
  const error = session.error
  session.error = undefined
  if (error === undefined) return {}
  if (error?.name === "MessageAbortedError") return { interrupted: true }
  return { error: [error?.name, error?.data?.message].filter(Boolean).join(": ") || "unknown" }
}

async function isThere(path) {
  try {
    await stat(path)
    return true
  } catch {
    return false
  }
}

function sessionOf(event) {
  const { sessionID, info } = event.properties ?? {}
  const id = sessionID ?? (event.type.startsWith("session.") ? info?.id : info?.sessionID)
  return typeof id === "string" ? id : undefined
}

// When this process started, as the kernel counts: it tells it from one that gets its number later.
function procStart() {
  try {
    const told = readFileSync("/proc/self/stat", "utf8")
    return told.slice(told.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}

function gitBranch(directory) {
  try {
    const head = readFileSync(join(directory, ".git", "HEAD"), "utf8").trim()
    return head.startsWith("ref: refs/heads/") ? head.slice(16) : head.slice(0, 12)
  } catch {
    return undefined
  }
}
