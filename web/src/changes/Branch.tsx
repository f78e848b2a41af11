import { type PullRequest, useWorkflowClient, type WorktreeChanges } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { BranchIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { visible } from '../parts/visible'
import type { Plate } from '../server/types'
import { text } from './text'

interface Props {
  readonly plate: Plate
  readonly changes: WorktreeChanges
}

/** The branch, how far it is from its upstream, and its pull request. */
export function Branch({ plate, changes }: Props) {
  const { branch, detached, upstream, ahead, behind, state, pullRequest } = changes
  const against = visible(upstream ?? '')
  return (
    <div className="chips">
      <span className="chip" title={text.branch}>
        <BranchIcon />
        {branch ? visible(branch) : detached ? text.detached : text.noBranch}
      </span>
      {upstream && ahead > 0 && (
        <span className="chip" title={text.ahead(ahead, against)}>
          <span aria-hidden="true">↑{ahead}</span>
          <span className="hidden">{text.ahead(ahead, against)}</span>
        </span>
      )}
      {upstream && behind > 0 && (
        <span className="chip" title={text.behind(behind, against)}>
          <span aria-hidden="true">↓{behind}</span>
          <span className="hidden">{text.behind(behind, against)}</span>
        </span>
      )}
      {state && <span className="chip chip--waiting">{text.operations[state]}</span>}
      {pullRequest && <PullRequestChip plate={plate} request={pullRequest} />}
    </div>
  )
}

interface RequestProps {
  readonly plate: Plate
  readonly request: PullRequest
}

function PullRequestChip({ plate, request }: RequestProps) {
  const words = text.pullRequest
  const { number, title, url, state, checks } = request
  const counts = (['failed', 'pending', 'passed'] as const).map((one) => ({
    state: one,
    count: checks.filter((check) => check.state === one).length,
  }))
  return (
    <details className="request">
      <summary className="chip request__head">
        {words.name(number)} {words.states[state]}
        {counts.map(
          ({ state: one, count }) =>
            count > 0 && (
              <span key={one} className={`request__count is-${one}`}>
                {words[one](count)}
              </span>
            ),
        )}
      </summary>
      <div className="request__inside panel">
        <p>
          <a href={safe(url)} target="_blank" rel="noopener noreferrer">
            {visible(title)}
          </a>
        </p>
        {checks.length === 0 && <p className="quiet">{words.noChecks}</p>}
        <ul aria-label={words.checks}>
          {checks.map((check) => (
            <li key={check.name} className={`request__check is-${check.state}`}>
              <span className="request__state">{words.check[check.state]}</span>
              <span className="grow">{visible(check.name)}</span>
              {check.url && (
                <a href={safe(check.url)} target="_blank" rel="noopener noreferrer">
                  {words.log}
                </a>
              )}
              {check.message && <SendCheck plate={plate} message={check.message} />}
            </li>
          ))}
        </ul>
      </div>
    </details>
  )
}

function SendCheck({ plate, message }: { readonly plate: Plate; readonly message: string }) {
  const client = useWorkflowClient()
  const send = useMutation({
    mutationFn: () => client.sendMessage(plate.plateId, { text: message, when: 'now' }),
    onSuccess: () => say(text.pullRequest.sent),
  })
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={send.isPending || send.isSuccess}
        onClick={() => send.mutate()}
      >
        {text.pullRequest.send}
      </button>
      {send.error && <Problem error={send.error} />}
    </>
  )
}

/** An address that a page may lead to; undefined for one that would run something. */
function safe(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined
}
