import { Problem } from '../parts/Problem'
import type { Plate } from '../server/types'
import { text } from '../start/text'
import { useStart } from '../start/useStart'

interface Props {
  readonly plate: Plate
  /** What it is asked as it resumes; an empty text asks nothing. */
  readonly prompt: string
  readonly onResumed: () => void
}

/** Resumes a session that has ended, in the background. */
export function Resume({ plate, prompt, onResumed }: Props) {
  const start = useStart(onResumed)
  const { agent, plateId } = plate
  return (
    <>
      {start.error && <Problem error={start.error} />}
      <button
        type="button"
        className="button"
        disabled={start.isPending}
        onClick={() =>
          start.mutate({ agent, resume: plateId, prompt: prompt.trim() ? prompt : null })
        }
      >
        {start.isPending ? text.resuming : text.resume}
      </button>
    </>
  )
}
