import { useHumanInteractive } from '../../src/index'

const KEPT = 'review'

/** A review that is found again when the page is loaded anew. */
export function Remembered() {
  const { request, status, data, sessionId } = useHumanInteractive<string>({
    attachTo: localStorage.getItem(KEPT),
  })
  if (sessionId) localStorage.setItem(KEPT, sessionId)
  return (
    <div>
      <button
        type="button"
        disabled={status === 'pending'}
        onClick={() =>
          request('Which way?', {
            outcomeSchema: { type: 'selection', options: ['left', 'right'] },
          })
        }
      >
        Ask
      </button>
      <p>It is {status}.</p>
      {data && <p>They said {data.response}.</p>}
    </div>
  )
}
