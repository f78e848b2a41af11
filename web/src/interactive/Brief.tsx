import { type ReactNode, useState } from 'react'
import { JsonTree } from '../parts/JsonTree'
import { isLarge } from '../parts/json'
import { length } from '../parts/times'
import { visible } from '../parts/visible'
import { text } from './text'
import type { Wanted } from './wanted'

/** What an interactive session is about, and how it would be held: to be read before deciding. */
export function Brief({ wanted }: { readonly wanted: Wanted }) {
  return (
    <section className="brief" aria-label={text.about}>
      {wanted.context && (
        <Part title={text.context} isLarge={isLarge(wanted.context)}>
          <JsonTree value={wanted.context} label={text.context} height={260} />
        </Part>
      )}
      {wanted.systemPrompt && (
        <Part title={text.systemPrompt} isLarge={isLarge(wanted.systemPrompt)}>
          <pre className="brief__text">{visible(wanted.systemPrompt)}</pre>
        </Part>
      )}
      <Facts wanted={wanted} />
    </section>
  )
}

interface PartProps {
  readonly title: string
  readonly isLarge: boolean
  readonly children: ReactNode
}

/** What is large is folded away, and drawn only when someone wants to see it. */
function Part({ title, isLarge, children }: PartProps) {
  const [isOpen, setOpen] = useState(!isLarge)
  return (
    <details
      className="brief__part"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  )
}

function Facts({ wanted }: { readonly wanted: Wanted }) {
  return (
    <dl className="brief__facts">
      {factsOf(wanted).map(([name, value, isCode]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{isCode ? <code>{visible(value)}</code> : visible(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

type Told = readonly [name: string, value: string | false | null, isCode?: boolean]
type Fact = readonly [name: string, value: string, isCode?: boolean]

function factsOf(wanted: Wanted): ReadonlyArray<Fact> {
  const told: ReadonlyArray<Told> = [
    [text.model, wanted.model],
    [text.folder, wanted.cwd, true],
    [text.tools, wanted.mcpConfig, true],
    [text.resumes, wanted.resumes, true],
    [text.timeLimit, wanted.timeout !== null && length(wanted.timeout)],
    [text.transcript, wanted.keepsTranscript && text.isKept],
    [text.workflow, wanted.halts && text.isHalted],
  ]
  return told.filter((one): one is Fact => Boolean(one[1]))
}
