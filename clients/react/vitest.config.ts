import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'jsdom',
    include: ['tests/**/*.test.{ts,tsx}'],
    globalSetup: ['tests/server.setup.ts'],
    setupFiles: ['tests/page.setup.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    typecheck: { enabled: true, include: ['tests/**/*.test-d.ts'], checker: 'tsc' },
  },
})
