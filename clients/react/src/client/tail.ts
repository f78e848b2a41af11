import type { CallboardError } from './errors.js'
import type { SerializedEvent } from './events.js'
import type { EventStream, StreamListener } from './stream.js'

/** A stream as an async iterator. It raises the error that ended the stream, and closes with its loop. */
export async function* tailed(
  follow: (listener: StreamListener) => EventStream,
): AsyncGenerator<SerializedEvent, void, undefined> {
  let waiting: SerializedEvent[] = []
  let over = false
  let failed: CallboardError | null = null
  let wake = () => {}
  const stream = follow({
    onEvents(events) {
      waiting = waiting.concat(events)
      wake()
    },
    onStatus(status, error) {
      over = status === 'ended' || status === 'error'
      if (status === 'error') failed = error
      wake()
    },
  })
  try {
    for (;;) {
      const events = waiting
      waiting = []
      yield* events
      if (waiting.length > 0) continue
      if (failed) throw failed
      if (over) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    stream.close()
  }
}
