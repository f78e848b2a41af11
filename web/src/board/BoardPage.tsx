import { Empty } from '../parts/Empty'

/** The place of the coding agents' sessions. */
export function BoardPage() {
  return (
    <div className="page">
      <header>
        <div>
          <h1>Board</h1>
          <p className="quiet">Coding agents on this machine, and which of them want you.</p>
        </div>
      </header>
      <Empty title="No coding agents here yet">
        <p>
          This server has no board of coding agents. Workflow sessions are on the sessions page, and
          what they ask is in the inbox.
        </p>
      </Empty>
    </div>
  )
}
