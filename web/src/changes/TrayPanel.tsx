import { useWorkflowClient } from '@callboard/react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { onOneLine, visible } from '../parts/visible'
import type { Plate } from '../server/types'
import { Written } from './Commenting'
import { text } from './text'
import type { Comment, Tray } from './tray'

const words = text.comment

interface Props {
  readonly plate: Plate
  readonly tray: Tray
  readonly since: string
  /** When the changes were read that are shown. */
  readonly readAt: string
}

/** The comments that were collected: they are sent together, as one message. */
export function TrayPanel({ plate, tray, since, readAt }: Props) {
  const client = useWorkflowClient()
  const [isOpen, setOpen] = useState(false)
  const { comments } = tray
  const { data, error } = useQuery({
    queryKey: ['comments', plate.plateId, since, comments, readAt],
    queryFn: ({ signal }) =>
      client.placeComments(plate.plateId, { since, comments: comments.map(sent) }, signal),
    enabled: comments.length > 0 && readAt !== '',
    placeholderData: keepPreviousData,
  })
  const send = useMutation({
    mutationFn: async () => {
      const told = await client.placeComments(plate.plateId, {
        since,
        comments: comments.map(sent),
      })
      await client.sendMessage(plate.plateId, { text: told.text, when: 'now' })
    },
    onSuccess: () => {
      tray.clear()
      say(words.sent)
    },
  })
  if (comments.length === 0) return null
  const outdated = new Set(
    data?.comments.filter((one) => one.outdated).map((one) => comments[one.index]?.id),
  )
  return (
    <section className="tray" aria-label={words.tray}>
      {(error ?? send.error) && <Problem error={error ?? send.error} />}
      {isOpen && (
        <ol className="tray__list">
          {comments.map((one) => (
            <li key={one.id}>
              <p className="tray__where mono">
                {words.where(onOneLine(one.path), one.line)}
                {outdated.has(one.id) && <span className="tray__changed">{words.changed}</span>}
              </p>
              <p className="tray__line mono">{visible(one.excerpt)}</p>
              <Written comment={one} tray={tray} />
            </li>
          ))}
        </ol>
      )}
      {outdated.size > 0 && <p className="tray__note">{words.outdated(outdated.size)}</p>}
      <div className="row">
        <button
          type="button"
          className="button button--plain"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {words.count(comments.length)}
        </button>
        <span className="grow" />
        <button
          type="button"
          className="button button--lamp"
          disabled={send.isPending}
          onClick={() => send.mutate()}
        >
          {outdated.size > 0 ? words.sendAnyway : words.send}
        </button>
      </div>
    </section>
  )
}

function sent({ id: _, ...comment }: Comment) {
  return comment
}
