import { PlusIcon } from '../parts/icons'
import type { Workflow } from '../server/types'
import { text } from './text'

interface Props {
  readonly workflows: ReadonlyArray<Workflow>
  readonly onStart: () => void
}

/** What a new server teaches: the two things that fill it. */
export function Welcome({ workflows, onStart }: Props) {
  const { title, about, workflow, agents } = text.empty
  return (
    <section className="welcome" aria-labelledby="welcome">
      <h2 id="welcome">{title}</h2>
      <p className="quiet">{about}</p>
      <div className="teach">
        <div className="panel">
          <h3>{workflow.title}</h3>
          <p>{workflow.about}</p>
          {workflows.length > 0 ? (
            <>
              <p>{workflow.choose}</p>
              <button type="button" className="button button--lamp" onClick={onStart}>
                <PlusIcon /> {text.start}
              </button>
            </>
          ) : (
            <pre className="notice">{workflow.command}</pre>
          )}
        </div>
        <div className="panel">
          <h3>{agents.title}</h3>
          <p>{agents.about}</p>
          <pre className="notice">{agents.command}</pre>
        </div>
      </div>
    </section>
  )
}
