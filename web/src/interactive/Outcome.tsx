import { isWhole } from '../inbox/manner'
import { JsonTree } from '../parts/JsonTree'
import { length } from '../parts/times'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'

/** How an interactive session ended: what was decided, how long it took, and what was said. */
export function Outcome({ question }: { readonly question: Interaction }) {
  const { response, durationMs, transcript } = question
  return (
    <div className="brief">
      {isWhole(response) && <JsonTree value={response} label="The decision" height={320} />}
      {durationMs !== null && <p className="quiet">It took {length(durationMs)}.</p>}
      {transcript && (
        <details className="brief__part">
          <summary>Transcript</summary>
          <pre className="brief__text">{visible(transcript)}</pre>
        </details>
      )}
    </div>
  )
}
