import { isWhole } from '../inbox/manner'
import { JsonTree } from '../parts/JsonTree'
import { length } from '../parts/times'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { text } from './text'

/** How an interactive session ended: what was decided, how long it took, and what was said. */
export function Outcome({ question }: { readonly question: Interaction }) {
  const { response, durationMs, transcript } = question
  return (
    <div className="brief">
      {isWhole(response) && <JsonTree value={response} label={text.decision} height={320} />}
      {durationMs !== null && <p className="quiet">{text.took(length(durationMs))}</p>}
      {transcript && (
        <details className="brief__part">
          <summary>{text.transcript}</summary>
          <pre className="brief__text">{visible(transcript)}</pre>
        </details>
      )}
    </div>
  )
}
