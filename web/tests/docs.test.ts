import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, describe as group, it } from 'vitest'

const WEB = join(import.meta.dirname, '..')
const GUIDES = join(WEB, '../docs/how-to')
const BLOCK = /^```(tsx?)(?: title="([^"]+)")?\n(.*?)^```$/gms

interface Example {
  readonly page: string
  readonly name: string
  readonly text: string
}

/** Every TypeScript example of the guides, as a file beside the others of its page. */
function examples(): Example[] {
  const pages = readdirSync(GUIDES).filter((name) => name.endsWith('.md'))
  return pages.flatMap((page) => {
    const found = [...readFileSync(join(GUIDES, page), 'utf8').matchAll(BLOCK)]
    return found.map(([, kind, title, text], index) => ({
      page,
      name: title ?? `${index}.${kind}`,
      text: text ?? '',
    }))
  })
}

group('examples in the guides', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(WEB, '.examples-'))
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it('compile as they stand, with every name defined', { timeout: 60_000 }, () => {
    const all = examples()
    for (const { page, name, text } of all) {
      mkdirSync(join(folder, page), { recursive: true })
      writeFileSync(join(folder, page, name), `${text}\nexport {}\n`)
    }
    const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false }
    const config = { extends: '../tsconfig.json', compilerOptions, include: ['**/*'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
    expect(all.length).toBeGreaterThan(8)
    expect(errorsIn(folder)).toBe('')
  })
})

function errorsIn(folder: string): string {
  try {
    execFileSync('npx', ['tsc', '--noEmit', '-p', folder], {
      cwd: WEB,
      encoding: 'utf8',
      stdio: 'pipe',
    })
    return ''
  } catch (error) {
    return String((error as { stdout: string }).stdout)
  }
}
