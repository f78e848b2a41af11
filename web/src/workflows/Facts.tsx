import type { WorkflowStats } from '@callboard/react'
import { percent, short } from '../charts/period'
import { length } from '../parts/times'
import { text } from './text'

/** The numbers of a workflow. */
export function Facts({ stats }: { readonly stats: WorkflowStats }) {
  const { facts, none } = text
  const { runs, active, failed, successRate, duration, answerTime } = stats
  const tokens = stats.inputTokens + stats.outputTokens
  return (
    <dl className="panel figures is-wide">
      <Fact title={facts.runs} value={short(runs)} more={active > 0 && facts.active(active)} />
      <Fact
        title={facts.success}
        value={successRate === null ? none : percent(successRate)}
        more={failed > 0 && facts.failed(failed)}
      />
      <Fact
        title={facts.duration}
        value={duration ? length(duration.p50) : none}
        more={duration && facts.p95(length(duration.p95))}
      />
      <Fact
        title={facts.people}
        value={answerTime ? length(answerTime.p50) : none}
        more={answerTime && facts.p95(length(answerTime.p95))}
      />
      <Fact
        title={facts.tokens}
        value={tokens ? short(tokens) : none}
        more={
          tokens > 0
            ? facts.inOut(short(stats.inputTokens), short(stats.outputTokens))
            : runs > 0 && facts.noTokens
        }
      />
    </dl>
  )
}

interface FactProps {
  readonly title: string
  readonly value: string
  readonly more?: string | false | null
}

function Fact({ title, value, more }: FactProps) {
  return (
    <div>
      <dt>{title}</dt>
      <dd className="figures__value">{value}</dd>
      {more && <dd className="figures__more">{more}</dd>}
    </div>
  )
}
