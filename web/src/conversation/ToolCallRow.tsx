import type { ConversationItem, FileEdit, ToolRun } from '@callboard/react'
import { useMemo } from 'react'
import { objectOf } from '../asks/ask'
import { ToolCall } from '../asks/ToolCall'
import { Counts } from '../diffs/Counts'
import { UnifiedDiff } from '../diffs/UnifiedDiff'
import { countsOf, hunksOf } from '../diffs/unified'
import { ChevronIcon } from '../parts/icons'
import { onOneLine, visible } from '../parts/visible'
import { Passage } from '../reading/Passage'
import { useFold } from './folds'
import { Nested } from './Nested'
import { usePlace } from './place'
import { text } from './text'
import { briefOfTool, pathIn } from './words'

const words = text.tool

/** A tool call: one line, and its input and result when it is opened. */
export function ToolCallRow({ item }: { readonly item: ConversationItem }) {
  const [isOpen, toggle] = useFold(item.id)
  const { folder } = usePlace()
  const { tool } = item
  if (!tool) return null
  const { status } = tool
  return (
    <>
      <button type="button" className="message__fold" aria-expanded={isOpen} onClick={toggle}>
        <ChevronIcon />
        <span className={`tooldot tooldot--${status}`} aria-hidden="true" />
        <span className="message__name">{tool.name ? onOneLine(tool.name) : words.unnamed}</span>
        <span className="message__brief mono">{briefOfTool(item, folder)}</span>
        <EditCounts tool={tool} />
        {status === 'done' ? (
          <span className="hidden">{words.statuses.done}</span>
        ) : (
          <span className={`status status--${LOOKS[status]}`}>{words.statuses[status]}</span>
        )}
      </button>
      {isOpen && <Opened tool={tool} />}
      {tool.subagent && <Subagent tool={tool} id={item.id} />}
    </>
  )
}

const LOOKS = { running: 'running', failed: 'failed', denied: 'cancelled' } as const

function EditCounts({ tool }: { readonly tool: ToolRun }) {
  if (tool.edits.length === 0) return null
  const counts = tool.edits.map((edit) => countsOf(hunksOf(edit.diff)))
  const added = counts.reduce((sum, one) => sum + one.added, 0)
  const removed = counts.reduce((sum, one) => sum + one.removed, 0)
  return <Counts added={added} removed={removed} />
}

function Opened({ tool }: { readonly tool: ToolRun }) {
  const diffs = tool.edits.filter((edit) => edit.diff !== '')
  return (
    <div className="message__inside">
      {diffs.length > 0
        ? diffs.map((edit) => <Edit key={edit.path} edit={edit} />)
        : tool.name && <ToolCall tool={tool.name} input={inputOf(tool)} />}
      <Result tool={tool} />
    </div>
  )
}

function Edit({ edit: { path, diff } }: { readonly edit: FileEdit }) {
  const hunks = useMemo(() => hunksOf(diff), [diff])
  const { folder } = usePlace()
  return (
    <div className="message__edit">
      <p className="message__file mono">{visible(pathIn(folder, path))}</p>
      <UnifiedDiff path={path} hunks={hunks} />
    </div>
  )
}

/** A command that is given as words reads better as it was run. */
function inputOf({ input, command }: ToolRun): Readonly<Record<string, unknown>> {
  const known = typeof input === 'object' && input !== null ? objectOf(input) : { input }
  return command !== null && !('command' in known) ? { command, ...known } : known
}

function Result({ tool: { result, status } }: { readonly tool: ToolRun }) {
  return (
    <div className="message__result">
      <p className="message__label">{words.result}</p>
      {result === null || result === '' ? (
        <p className="quiet">
          {result === null && status === 'running' ? words.noResult : words.empty}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
        <div className={`message__output is-${status}`} tabIndex={0}>
          <Passage bare text={result} />
        </div>
      )}
    </div>
  )
}

function Subagent({ tool, id }: { readonly tool: ToolRun; readonly id: string }) {
  const [isOpen, toggle] = useFold(`${id}/subagent`)
  return (
    <div className="message__subagent">
      <button type="button" className="message__fold" aria-expanded={isOpen} onClick={toggle}>
        <ChevronIcon />
        <span className="message__name">{words.openSubagent}</span>
      </button>
      {isOpen && tool.subagent && (
        <Nested subagent={tool.subagent} isRunning={tool.status === 'running'} />
      )}
    </div>
  )
}
