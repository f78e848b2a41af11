import { Ago } from '../parts/Ago'
import { UnreachableIcon } from '../parts/icons'
import { onOneLine } from '../parts/visible'
import { text } from './text'

/** That a machine can't be reached, and since when: what its agents do now is not known. */
export function Unreachable({ since }: { readonly since: string }) {
  return (
    <span className="unreachable">
      <UnreachableIcon />
      <span>
        {text.host.unreachable} · {text.host.lastSeen} <Ago moment={since} />
      </span>
    </span>
  )
}

/** What happens to an answer while its agent's machine can't be reached. */
export function AnswersWait({ host }: { readonly host: string }) {
  return (
    <p className="notice notice--small" role="status">
      <strong>{text.host.isUnreachable(onOneLine(host))}</strong> {text.host.answersWait}
    </p>
  )
}
