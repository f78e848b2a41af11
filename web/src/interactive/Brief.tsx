import { type ReactNode, useState } from 'react'
import { JsonTree } from '../parts/JsonTree'
import { isLarge } from '../parts/json'
import { length } from '../parts/times'
import { visible } from '../parts/visible'
import type { Wanted } from './wanted'

/** What an interactive session is about, and how it would be held: to be read before deciding. */
export function Brief({ wanted }: { readonly wanted: Wanted }) {
  return (
    <section className="brief" aria-label="What it is about">
      {wanted.context && (
        <Part title="Context" isLarge={isLarge(wanted.context)}>
          <JsonTree value={wanted.context} label="Context" height={260} />
        </Part>
      )}
      {wanted.systemPrompt && (
        <Part title="What an agent is told" isLarge={isLarge(wanted.systemPrompt)}>
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
    ['Model', wanted.model],
    ['Works in', wanted.cwd, true],
    ['Tools from', wanted.mcpConfig, true],
    ['Goes on with', wanted.resumes, true],
    ['Time limit', wanted.timeout !== null && length(wanted.timeout)],
    ['Transcript', wanted.keepsTranscript && 'is kept'],
    ['Workflow', wanted.halts && 'stands still until this is decided'],
  ]
  return told.filter((one): one is Fact => Boolean(one[1]))
}
