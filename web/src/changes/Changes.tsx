import { useWorkflowClient, type WorktreeChanges } from '@callboard/react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useId } from 'react'
import { Counts } from '../diffs/Counts'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import { useParameter } from '../router/navigation'
import { problemOf } from '../server/queries'
import type { Plate } from '../server/types'
import { useMayOperate } from '../server/useScope'
import { Branch } from './Branch'
import { totalOf, turnOptions } from './difference'
import { FileList } from './FileList'
import { TrayPanel } from './TrayPanel'
import { text } from './text'
import { useTray } from './tray'

const SINCES = ['session', 'turn', 'commit'] as const
const EVERY_MS = 15_000

/** What changed in a coding agent's working tree, for those who may review it. */
export function Changes({ plate }: { readonly plate: Plate }) {
  const mayRead = useMayOperate()
  if (mayRead === null) return <p className="panel__body quiet">{text.loading}</p>
  if (!mayRead) return <p className="notice conversation__needs">{text.needsOperate}</p>
  return <Review plate={plate} />
}

function Review({ plate }: { readonly plate: Plate }) {
  const { plateId } = plate
  const client = useWorkflowClient()
  const [given, setSince] = useParameter('since')
  const since = given ?? 'session'
  const { data, error, isFetching, isPlaceholderData, refetch } = useQuery({
    queryKey: ['changes', plateId, since],
    queryFn: ({ signal }) => client.getChanges(plateId, since, signal),
    placeholderData: keepPreviousData,
    refetchInterval: EVERY_MS,
  })
  const tray = useTray(plateId)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what it did may have changed a file
  useEffect(() => void refetch(), [plate.status, refetch])
  const problem = problemOf(error, data !== undefined)
  return (
    <section className="changed" aria-label={text.title} aria-busy={isPlaceholderData}>
      {problem && <Problem error={problem} onRetry={refetch} />}
      {!data && !problem && <p className="panel__body quiet">{text.loading}</p>}
      {data && (
        <>
          <div className="changed__head">
            <Branch plate={plate} changes={data} />
            <span className="grow" />
            <Since changes={data} since={since} setSince={setSince} />
            <button
              type="button"
              className="button"
              disabled={isFetching}
              onClick={() => void refetch()}
            >
              {text.refresh}
            </button>
          </div>
          <Summary changes={data} />
          <FileList plateId={plateId} since={since} changes={data} tray={tray} />
        </>
      )}
      <TrayPanel plate={plate} tray={tray} since={since} readAt={data?.readAt ?? ''} />
    </section>
  )
}

interface SinceProps {
  readonly changes: WorktreeChanges
  readonly since: string
  readonly setSince: (since: string | null) => void
}

/** What the working tree is compared with. */
function Since({ changes, since, setSince }: SinceProps) {
  const id = useId()
  const turns = turnOptions(changes)
  return (
    <span className="changed__since">
      <label htmlFor={id}>{text.since}</label>
      <select
        id={id}
        className="input"
        value={since}
        onChange={(event) => setSince(event.target.value === 'session' ? null : event.target.value)}
      >
        {SINCES.map((one) => (
          <option key={one} value={one}>
            {text.sinces[one]}
          </option>
        ))}
        {turns.length > 0 && (
          <optgroup label={text.earlierTurns}>
            {turns.map(({ id: turn, label }) => (
              <option key={turn} value={turn}>
                {label}
              </option>
            ))}
          </optgroup>
        )}
      </select>
    </span>
  )
}

function Summary({
  changes: { files, more, base, commits, moreCommits },
}: {
  readonly changes: WorktreeChanges
}) {
  return (
    <div className="changed__summary">
      <p>
        {files.length === 0 ? text.none : text.summary(files.length + more)}{' '}
        <Counts {...totalOf(files)} />
      </p>
      {base.note && <p className="quiet">{visible(base.note)}</p>}
      {base.partial > 0 && <p className="quiet">{text.partial(base.partial)}</p>}
      {commits.length > 0 && (
        <details className="folded">
          <summary>{text.commits(commits.length + moreCommits)}</summary>
          <ol className="changed__commits">
            {commits.map(({ id, subject }) => (
              <li key={id}>
                <code>{id.slice(0, 9)}</code> {visible(subject)}
              </li>
            ))}
            {moreCommits > 0 && <li className="quiet">{text.moreCommits(moreCommits)}</li>}
          </ol>
        </details>
      )}
    </div>
  )
}
