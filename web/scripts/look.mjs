// Photographs every page, light, dark and on a phone, and has axe look at each:
//   CALLBOARD_SERVER=… CALLBOARD_TOKEN=… node scripts/look.mjs FOLDER
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'

const server = process.env.CALLBOARD_SERVER ?? 'http://127.0.0.1:2255'
const folder = process.argv[2] ?? 'shots'
const only = process.argv[3]
const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

const PAGES = {
  inbox: '/inbox',
  sessions: '/sessions',
  start: '/sessions?start=1',
  session: '/sessions/notes-2.4.0?at=30',
  waiting: '/sessions/trip-lisbon',
  failed: '/sessions/broken-1',
  large: '/sessions/large',
  family: '/sessions/notes-2.4.0/family',
  compare: '/compare/notes-2.4.0/notes-2.4.0-short',
  board: '/board',
  lost: '/nowhere',
}
const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1360, height: 900 } },
  dark: { colorScheme: 'dark', viewport: { width: 1360, height: 900 } },
  phone: { colorScheme: 'light', viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
}

async function link() {
  const headers = { Authorization: `Bearer ${process.env.CALLBOARD_TOKEN}` }
  const answer = await fetch(`${server}/login`, { method: 'POST', headers })
  return `${server}/login?code=${(await answer.json()).code}`
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium' })
let faults = 0
for (const [look, options] of Object.entries(LOOKS)) {
  const context = await browser.newContext({ ...options, bypassCSP: false })
  const page = await context.newPage()
  page.on('console', (said) => said.type() === 'error' && console.log(look, said.text()))
  page.on('response', (r) => r.status() >= 400 && console.log(look, r.status(), r.url()))
  page.on('pageerror', (error) => console.log(look, 'ERROR', error.message))
  await page.goto(await link())
  for (const [name, path] of Object.entries(PAGES)) {
    if (only && !only.split(',').includes(name)) continue
    await page.goto(`${server}/app${path}`)
    await page.waitForSelector('h1')
    await page.waitForTimeout(500)
    await page.screenshot({ path: `${folder}/${name}-${look}.png` })
    await page.evaluate(await import('node:fs').then((fs) => fs.readFileSync(axe, 'utf8')))
    const found = await page.evaluate(() => globalThis.axe.run())
    for (const { id, nodes } of found.violations) {
      faults += nodes.length
      console.log(
        `${name} ${look}: ${id}: ${nodes[0].html.slice(0, 160)} (${nodes.length}) ${nodes[0].failureSummary.split('\n')[1]}`,
      )
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    if (wide > 0) console.log(`${name} ${look}: ${wide} px too wide`)
  }
  await context.close()
}
await browser.close()
console.log(`${faults} faults`)
