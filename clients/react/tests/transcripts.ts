/** Transcripts as Claude Code writes them, where the server looks for them. */
import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { inject } from 'vitest'

interface Block {
  readonly type: string
  readonly [key: string]: unknown
}

/** One session's transcript, which grows. */
export class Transcript {
  readonly session = randomUUID()
  readonly path: string
  private moment = Date.parse('2026-11-16T14:00:00.000Z')

  constructor() {
    this.path = join(inject('claude'), 'projects', '-home-u-proj', `${this.session}.jsonl`)
    mkdirSync(dirname(this.path), { recursive: true })
    writeFileSync(this.path, '')
  }

  prompt(text: string): void {
    this.write('user', text, { origin: { kind: 'human' } })
  }

  reply(text: string): void {
    this.write('assistant', [{ type: 'text', text }])
  }

  call(id: string, command: string): void {
    this.write('assistant', [{ type: 'tool_use', id, name: 'Bash', input: { command } }])
  }

  result(id: string, content: string): void {
    this.write('user', [{ type: 'tool_result', tool_use_id: id, content }])
  }

  /** Remove it, as a client does with old ones. */
  remove(): void {
    rmSync(this.path)
  }

  /** Write it anew, as a client does that goes back to an earlier message. */
  rewrite(text: string): void {
    writeFileSync(this.path, '')
    this.prompt(text)
  }

  private write(type: string, content: string | ReadonlyArray<Block>, more: object = {}): void {
    this.moment += 1000
    const record = {
      ...{ type, uuid: randomUUID(), sessionId: this.session, isSidechain: false },
      timestamp: new Date(this.moment).toISOString(),
      message: { role: type, content },
      ...more,
    }
    appendFileSync(this.path, `${JSON.stringify(record)}\n`)
  }
}
