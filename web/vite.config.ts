import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** The routes of the server; everything else belongs to the dashboard. */
const ROUTES =
  /^\/(sessions|interactions|workflows|overview|stream|plates|login|logout|health)(\/|\?|$)/

// For development only: `CALLBOARD_SERVER` says which server, `CALLBOARD_TOKEN` lets us in.
const server = process.env.CALLBOARD_SERVER ?? 'http://127.0.0.1:2255'
const token = process.env.CALLBOARD_TOKEN

export default defineConfig({
  base: '/app/',
  plugins: [react()],
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
  test: { environment: 'node', include: ['tests/**/*.test.ts'] },
})
