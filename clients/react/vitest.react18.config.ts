import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Whatever is imported of these comes from the folder that has React 18, and so does what they
// themselves import: one React, and not two of them on one page.
const OTHERS = /^(react|react-dom|@tanstack\/react-query|@testing-library\/react)(\/|$)/
const FROM = fileURLToPath(new URL('./tests/react18/package.json', import.meta.url))

export default defineConfig({
  plugins: [
    {
      name: 'react-18',
      enforce: 'pre',
      resolveId(source) {
        return OTHERS.test(source) ? this.resolve(source, FROM, { skipSelf: true }) : null
      },
    },
  ],
  test: {
    environment: 'jsdom',
    include: [
      'tests/react18/version.check.ts',
      'tests/{workflow,lists,board,conversation,human,interactive,examples,seed}.test.tsx',
    ],
    globalSetup: ['tests/server.setup.ts'],
    setupFiles: ['tests/page.setup.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
  },
})
