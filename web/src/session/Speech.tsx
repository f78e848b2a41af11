import { textOf } from '@callboard/react'
import { useEffect, useMemo, useRef } from 'react'
import { visible } from '../parts/visible'
import type { SerializedEvent } from '../server/types'
import { text } from './text'

interface Props {
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly speaking: boolean
}

/** What the agent that spoke last has said, as it comes in. */
export function Speech({ events, position, speaking }: Props) {
  const said = useMemo(
    () => textOf(events.filter((event) => event.position <= position)),
    [events, position],
  )
  const ref = useRef<HTMLPreElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: new text is what scrolls it
  useEffect(() => {
    if (ref.current) ref.current.scrollTop = ref.current.scrollHeight
  }, [said])
  if (!said) return null
  return (
    <section className="panel" aria-label={text.output.title}>
      <header>
        <h2 className="grow">{text.output.title}</h2>
        {speaking && <span className="quiet">{text.output.streaming}</span>}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <pre className="panel__body speech speech--panel" ref={ref} tabIndex={0}>
        {visible(said)}
      </pre>
    </section>
  )
}
