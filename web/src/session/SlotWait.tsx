import { useWorkflowClient } from '@callboard/react'
import { useQuery } from '@tanstack/react-query'
import { onOneLine } from '../parts/visible'
import type { Session, Workflow } from '../server/types'
import { text } from './text'

const LOOK_EVERY_MS = 2_000

interface Props {
  readonly session: Session
  readonly workflow: Workflow | undefined
}

/** That agents of the session wait for a slot of a limit, which others have. */
export function SlotWait({ session, workflow }: Props) {
  const { sessionId, status } = session
  const client = useWorkflowClient()
  const phase = workflow?.phases.find((one) => one.name === session.phase)
  const isLimited = Boolean(phase?.limit) && status === 'running'
  const { data } = useQuery({
    queryKey: ['limits', sessionId],
    queryFn: ({ signal }) => client.listLimits({ sessionId }, signal),
    refetchInterval: LOOK_EVERY_MS,
    enabled: isLimited,
  })
  if (!isLimited || !data) return null
  const full = data.filter((limit) => limit.slots.some((slot) => slot.waiting))
  return full.map((limit) => (
    <p key={limit.name} className="notice" role="status">
      {text.header.slot(onOneLine(limit.name), limit.inUse, limit.number)}
    </p>
  ))
}
