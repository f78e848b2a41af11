import { type ChangedFile, useWorkflowClient, type WorktreeChanges } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { Counts } from '../diffs/Counts'
import { UnifiedDiff } from '../diffs/UnifiedDiff'
import { ChevronIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { CommentButton, LineComments, type Target, targetOf } from './Commenting'
import { drawnHunks, hasLines, marksOf } from './difference'
import { text } from './text'
import type { Tray } from './tray'

interface Props {
  readonly plateId: string
  readonly since: string
  readonly changes: WorktreeChanges
  readonly tray: Tray
}

/** The files that changed. Each opens into its diff, which is loaded then. */
export function FileList({ plateId, since, changes, tray }: Props) {
  const { files, more, readAt } = changes
  const first = files.find((file) => hasLines(file) && (file.added || file.removed))
  return (
    <>
      <ul className="changed__files">
        {files.map((file) => (
          <li key={file.path}>
            <File {...{ file, plateId, since, readAt, tray }} isOpenFirst={file === first} />
          </li>
        ))}
      </ul>
      {more > 0 && <p className="quiet">{text.more(more)}</p>}
    </>
  )
}

interface FileProps {
  readonly file: ChangedFile
  readonly plateId: string
  readonly since: string
  readonly readAt: string
  readonly tray: Tray
  readonly isOpenFirst: boolean
}

function File({ isOpenFirst, ...props }: FileProps) {
  const { file, tray } = props
  const { path, oldPath, status, added, removed } = file
  const [isOpen, setOpen] = useState(isOpenFirst)
  const comments = tray.comments.filter((one) => one.path === path).length
  return (
    <article className="file" aria-label={onOneLine(path)}>
      <button
        type="button"
        className="file__head"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <ChevronIcon />
        <span className={`file__status is-${status}`}>{text.statuses[status]}</span>
        <span className="file__path mono">
          {onOneLine(path)}
          {oldPath && <span className="quiet"> {text.renamedFrom(onOneLine(oldPath))}</span>}
        </span>
        {comments > 0 && <span className="file__mark">{text.comment.count(comments)}</span>}
        {marksOf(file).map((mark) => (
          <span key={mark} className="file__mark">
            {mark}
          </span>
        ))}
        <Counts added={added ?? 0} removed={removed ?? 0} />
      </button>
      {isOpen &&
        (hasLines(file) ? <Diff {...props} /> : <p className="diff__none quiet">{text.noText}</p>)}
    </article>
  )
}

function Diff({ file, plateId, since, readAt, tray }: Omit<FileProps, 'isOpenFirst'>) {
  const { path } = file
  const client = useWorkflowClient()
  const { data, error, isLoading, refetch } = useQuery({
    // What was read at the same time as the list fits to it.
    queryKey: ['changes-file', plateId, since, path, readAt],
    queryFn: ({ signal }) => client.getFileChanges(plateId, file, since, signal),
    placeholderData: (previous, query) => (query?.queryKey[3] === path ? previous : undefined),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  })
  const hunks = useMemo(() => (data ? drawnHunks(data) : []), [data])
  const [target, setTarget] = useState<Target | null>(null)
  return (
    <>
      {error && <Problem error={error} onRetry={refetch} />}
      {isLoading && <p className="diff__none quiet">{text.loadingFile}</p>}
      {data && (
        <UnifiedDiff
          path={path}
          hunks={hunks}
          beside={(line) => (
            <CommentButton
              line={line}
              isFirst={line === hunks[0]?.lines[0]}
              onOpen={() => setTarget(targetOf(line))}
            />
          )}
          below={(line) => (
            <LineComments {...{ path, line, tray, target }} onClose={() => setTarget(null)} />
          )}
        />
      )}
      {data?.cut && <p className="diff__none quiet">{text.cut}</p>}
    </>
  )
}
