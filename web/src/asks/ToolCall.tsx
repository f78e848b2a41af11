import { useState } from 'react'
import { JsonTree } from '../parts/JsonTree'
import { TextDiff } from '../parts/TextDiff'
import { visible } from '../parts/visible'
import { type Change, type Doing, doingOf } from './tools'

interface Props {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Exactly what a tool is about to do. */
export function ToolCall({ tool, input }: Props) {
  const doing = doingOf(input)
  return (
    <div className="toolcall">
      <p className="toolcall__tool">
        <strong>{visible(tool)}</strong>
        {'file' in doing && <code>{visible(doing.file)}</code>}
        {doing.kind === 'command' && doing.about && (
          <span className="quiet">{visible(doing.about)}</span>
        )}
      </p>
      <Shown doing={doing} tool={tool} />
    </div>
  )
}

function Shown({ doing, tool }: { readonly doing: Doing; readonly tool: string }) {
  switch (doing.kind) {
    case 'command':
      return <LongText text={doing.command} label="The command" />
    case 'edits':
      return <Edits edits={doing.edits} />
    case 'content':
      return <LongText text={doing.content} label="What is written" />
    case 'other':
      return <JsonTree value={doing.input} label={`What ${tool} is given`} height={240} />
  }
}

function Edits({ edits }: { readonly edits: ReadonlyArray<Change> }) {
  return (
    <>
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call does not change, its edits have no names
        <div key={index}>
          {edit.everywhere && <p className="quiet">Everywhere in the file:</p>}
          <TextDiff
            before={edit.before}
            after={edit.after}
            label={edits.length > 1 ? `Edit ${index + 1} of ${edits.length}` : 'The edit'}
          />
        </div>
      ))}
    </>
  )
}

const AT_FIRST = 20_000

/** A text that is shown exactly, and all of it before anybody decides. */
function LongText({ text, label }: { readonly text: string; readonly label: string }) {
  const [whole, setWhole] = useState(false)
  const isCut = text.length > AT_FIRST && !whole
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <section className="toolcall__text" aria-label={label} tabIndex={0}>
        <pre>{visible(isCut ? text.slice(0, AT_FIRST) : text)}</pre>
      </section>
      {isCut && (
        <p className="row">
          <strong>There is more.</strong>
          <button type="button" className="button" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString()} characters
          </button>
        </p>
      )}
    </>
  )
}
