/** A real server in a process of its own, which can be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const TOKEN = 'cb_a-token-for-tests'
const ROOT = join(import.meta.dirname, '../../..')

export class Server {
  readonly folder = mkdtempSync(join(tmpdir(), 'callboard-react-'))
  url = ''
  private process: ChildProcess | undefined

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** Where its coding agents keep their own files. */
  get claude(): string {
    return join(this.folder, 'claude')
  }

  get database(): string {
    return join(this.folder, 'board.db')
  }

  /** Nothing that it keeps belongs in the home of the person who runs the tests. */
  private get env(): NodeJS.ProcessEnv {
    return { ...process.env, CALLBOARD_TOKEN: TOKEN, XDG_DATA_HOME: join(this.folder, 'share') }
  }

  /** Start it, and return when it listens; a second time at the same port. */
  async start(): Promise<void> {
    const port = this.url === '' ? 0 : this.port
    const flows = [join(ROOT, 'tests/server_flows.py'), join(ROOT, 'clients/react/tests/flows.py')]
    const options = [`--db=${this.database}`, `--port=${port}`, '--json']
    this.process = spawn(join(ROOT, '.venv/bin/callboard'), ['serve', ...flows, ...options], {
      env: { ...this.env, CLAUDE_CONFIG_DIR: this.claude },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const { stdout, stderr } = this.process
    if (!stdout || !stderr) throw new Error('The server has no output.')
    let log = ''
    stderr.on('data', (data: Buffer) => {
      log += data.toString()
    })
    const ended = once(this.process, 'exit').then(() => {
      throw new Error(`The server did not start:\n${log}`)
    })
    ended.catch(() => {})
    const [line] = (await Promise.race([once(createInterface(stdout), 'line'), ended])) as [string]
    this.url = (JSON.parse(line) as { url: string }).url
  }

  /** End it as a crash would. */
  async kill(): Promise<void> {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode) return
    const ended = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await ended
  }

  /** End it for good. */
  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Run a command of Callboard beside it. */
  async command(...args: string[]): Promise<string> {
    const child = spawn(join(ROOT, '.venv/bin/callboard'), args, {
      env: this.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString()
    })
    const [code] = (await once(child, 'close')) as [number]
    if (code !== 0) throw new Error(`callboard ${args.join(' ')} ended with ${code}`)
    return out
  }
}
