import type { TestProject } from 'vitest/node'
import { Server } from './serving'

declare module 'vitest' {
  export interface ProvidedContext {
    readonly url: string
    /** Where the server's coding agents keep their own files. */
    readonly claude: string
  }
}

/** One server for all tests that do not kill it. */
export default async function setup(project: TestProject) {
  const server = new Server()
  await server.start()
  project.provide('url', server.url)
  project.provide('claude', server.claude)
  return () => server.remove()
}
