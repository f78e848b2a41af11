/** Installs React 18 beside the tests, unless it is there as it is locked. */
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../tests/react18', import.meta.url))
const changed = (file) => statSync(`${folder}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

if (changed('node_modules/.package-lock.json') < changed('package-lock.json')) {
  execFileSync('npm', ['ci', '--no-progress', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    stdio: 'inherit',
  })
}
