import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

/** The routes of the server; everything else belongs to the dashboard. */
const ROUTES =
  /^\/(sessions|interactions|workflows|overview|stream|plates|login|logout|health)(\/|\?|$)/

// For development only: `CALLBOARD_SERVER` says which server, `CALLBOARD_TOKEN` lets us in.
const server = process.env.CALLBOARD_SERVER ?? 'http://127.0.0.1:2255'
const token = process.env.CALLBOARD_TOKEN

const TEXT = /\.(js|css|html|svg|txt)$/

/** Beside each file of text, the same compressed: the server sends what the browser takes. */
function packed(): Plugin {
  return {
    name: 'packed',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        const file = join(dir, name)
        if (TEXT.test(name) && statSync(file).size > 1000) {
          writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }))
        }
      }
    },
  }
}

export default defineConfig({
  base: '/app/',
  plugins: [react(), packed()],
  build: {
    outDir: '../src/callboard/server/ui',
    emptyOutDir: true,
    target: 'es2022',
    // The server forbids data: addresses for fonts, so nothing is put inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.txt' },
    // Swagger UI is large; only the API page loads it.
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { input: ['index.html', 'docs.html'] },
  },
  server: {
    proxy: {
      [ROUTES.source]: {
        target: server,
        changeOrigin: true,
        ...(token ? { headers: { Authorization: `Bearer ${token}`, Origin: server } } : {}),
      },
    },
  },
  // A guard against what never ends; a busy machine takes long for what is quick elsewhere.
  test: { environment: 'node', include: ['tests/**/*.test.ts'], testTimeout: 60_000 },
})
