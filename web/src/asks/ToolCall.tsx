import { TextDiff } from '../parts/TextDiff'
import { onOneLine, visible } from '../parts/visible'
import { Passage } from '../reading/Passage'
import { ReadBox } from '../reading/ReadBox'
import { text } from './text'
import { type Change, type Doing, doingOf } from './tools'

interface Props {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** Exactly what a tool is about to do, all of it. */
export function ToolCall({ tool, input }: Props) {
  const doing = doingOf(input)
  const file = 'file' in doing ? doing.file : null
  return (
    <div className="toolcall">
      <p className="toolcall__tool">
        <strong>{onOneLine(tool)}</strong>
        {doing.about && <span className="quiet">{visible(doing.about)}</span>}
      </p>
      <ReadBox label={text.call[doing.kind]} className="toolcall__text">
        {file && <p className="toolcall__file">{onOneLine(file)}</p>}
        <Shown doing={doing} />
        <Rest rest={doing.rest} />
      </ReadBox>
    </div>
  )
}

function Shown({ doing }: { readonly doing: Doing }) {
  switch (doing.kind) {
    case 'command':
      return <Passage text={doing.command} />
    case 'edits':
      return <Edits edits={doing.edits} />
    case 'content':
      return <Passage text={doing.content} />
    case 'other':
      return null
  }
}

function Edits({ edits }: { readonly edits: ReadonlyArray<Change> }) {
  return (
    <>
      {edits.map((edit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call does not change, its edits have no names
        <div key={index}>
          {(edits.length > 1 || edit.everywhere) && (
            <p className="toolcall__edit">
              {edits.length > 1 && text.edit(index + 1, edits.length)}
              {edits.length > 1 && edit.everywhere && ', '}
              {edit.everywhere && text.everywhere}
            </p>
          )}
          <TextDiff before={edit.before} after={edit.after} />
        </div>
      ))}
    </>
  )
}

/** Each key with its value: text as it is, anything else as JSON. */
function Rest({ rest }: Pick<Doing, 'rest'>) {
  if (rest.length === 0) return null
  return (
    <dl className="toolcall__rest">
      {rest.map(([key, value]) => (
        <div key={key}>
          <dt>{onOneLine(key)}</dt>
          <dd>
            <Passage text={typeof value === 'string' ? value : written(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function written(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? String(value)
}
