import { type UsageReport, useUsage } from '@callboard/react'
import { useRef } from 'react'
import { PERIOD, percent, short } from '../charts/period'
import { dollars, tokensOf } from '../parts/amounts'
import { Command } from '../parts/Command'
import { Empty } from '../parts/Empty'
import { Problem } from '../parts/Problem'
import { onOneLine } from '../parts/visible'
import { useParameter } from '../router/navigation'
import { problemOf } from '../server/queries'
import { useShortcut } from '../shell/shortcuts'
import { Breakdown } from './Breakdown'
import { BudgetPanel } from './BudgetPanel'
import type { Measure } from './series'
import { Tabs } from './Tabs'
import { text } from './text'
import { UsageChart } from './UsageChart'
import '../styles/charts.css'
import '../styles/overview.css'
import '../styles/usage.css'

const PERIODS = [7, 30, 90] as const
const SPLITS = ['agent', 'model'] as const
const GROUPS = ['project', 'agent', 'model', 'workflow', 'plate'] as const
const NAMED = 5

/** One of these values, as the address has it; the first one unless it says another. */
function useChoice<T extends string | number>(
  name: string,
  options: ReadonlyArray<T>,
  usual: T,
): [T, (option: T) => void] {
  const [given, set] = useParameter(name)
  const found = options.find((option) => String(option) === given) ?? usual
  return [found, (option) => set(option === usual ? null : String(option))]
}

/** What agents have used: by day, and by what it was spent on; and the budget. */
export function UsagePage() {
  const [days, setDays] = useChoice('days', PERIODS, 30)
  const [split, setSplit] = useChoice('split', SPLITS, 'agent')
  const [by, setGroup] = useChoice('by', GROUPS, 'project')
  const { utcOffset } = PERIOD
  const daily = useUsage({ days, utcOffset, split })
  const grouped = useUsage({ days, utcOffset, by })
  const report = daily.data
  const [measure, setMeasure] = useMeasure(report)
  const field = useRef<HTMLInputElement>(null)
  useShortcut(text.title, 'm', text.keys.measure, () =>
    setMeasure(measure === 'money' ? 'tokens' : 'money'),
  )
  useShortcut(text.title, 'b', text.keys.budget, () => field.current?.focus())
  const problem = problemOf(daily.error ?? grouped.error, report !== undefined)
  const isEmpty = report !== undefined && tokensOf(report.total) === 0 && !report.total.cost
  return (
    <div className="page">
      <header>
        <div>
          <h1>{text.title}</h1>
          <p className="quiet">{text.intro}</p>
        </div>
        <Tabs
          title={text.period}
          options={PERIODS.map((one) => [one, text.days(one)] as const)}
          chosen={days}
          onChoose={setDays}
        />
      </header>
      {problem && <Problem error={problem} onRetry={daily.refetch} />}
      {!report && !problem && (
        <p className="quiet" aria-busy="true">
          {text.loading}
        </p>
      )}
      {report && (
        <div className="usage">
          {!isEmpty && <Figures report={report} />}
          {!isEmpty && (
            <section className="panel usage__days" aria-label={text.chart.title}>
              <header>
                <h2 className="grow">{text.chart.title}</h2>
                <Tabs
                  title={text.measure.title}
                  options={[
                    ['money', text.measure.money],
                    ['tokens', text.measure.tokens],
                  ]}
                  chosen={measure}
                  onChoose={setMeasure}
                />
                <Tabs
                  title={text.split.title}
                  options={SPLITS.map((one) => [one, text.split[one]] as const)}
                  chosen={split}
                  onChoose={setSplit}
                />
              </header>
              <div className="panel__body">
                <UsageChart report={report} measure={measure} />
              </div>
            </section>
          )}
          {isEmpty && <Nothing />}
          {!isEmpty && grouped.data && (
            <section className="panel usage__groups" aria-label={text.groups.title}>
              <header>
                <h2 className="grow">{text.groups.title}</h2>
                <Tabs
                  title={text.groups.tabs}
                  options={GROUPS.map((one) => [one, text.groups[one]] as const)}
                  chosen={by}
                  onChoose={setGroup}
                />
              </header>
              <div className="panel__body">
                <Breakdown report={grouped.data} measure={measure} />
              </div>
            </section>
          )}
          <div className="usage__side">
            <BudgetPanel budget={report.budget} field={field} />
            {!isEmpty && <Basis report={report} />}
          </div>
        </div>
      )}
    </div>
  )
}

/** Money, unless no price is known or the person wants tokens. */
function useMeasure(report: UsageReport | undefined): [Measure, (measure: Measure) => void] {
  const [given, set] = useParameter('show')
  const usual = report && report.total.cost === null ? 'tokens' : 'money'
  const measure = given === 'tokens' || given === 'money' ? given : usual
  return [measure, (next) => set(next === usual ? null : next)]
}

function Figures({ report }: { readonly report: UsageReport }) {
  const { figures } = text
  const { total, days, budget } = report
  const input = total.inputTokens + total.cacheReadTokens + total.cacheWriteTokens
  const facts = [
    [
      figures.today,
      dollars(budget.spent),
      budget.limit === null ? figures.noBudget : figures.ofBudget(dollars(budget.limit)),
    ],
    [
      figures.cost(days),
      total.cost === null ? figures.none : dollars(total.cost),
      total.cost === null ? '' : figures.perDay(dollars(total.cost / days)),
    ],
    [figures.tokens, short(tokensOf(total)), figures.calls(total.calls)],
    [
      figures.cached,
      input > 0 ? percent(total.cacheReadTokens / input) : figures.none,
      figures.ofInput,
    ],
  ] as const
  return (
    <dl className="panel figures usage__figures">
      {facts.map(([title, value, more]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd className="figures__value">{value}</dd>
          {more && <dd className="figures__more">{more}</dd>}
        </div>
      ))}
    </dl>
  )
}

/** Which prices, and what they don't include. */
function Basis({ report }: { readonly report: UsageReport }) {
  const { basis } = text
  const { unpricedModels, total } = report
  const source = onOneLine(report.pricesSource) || basis.shipped
  return (
    <section className="panel" aria-label={basis.title}>
      <header>
        <h2>{basis.title}</h2>
      </header>
      <div className="panel__body usage__basis">
        {total.unpricedTokens > 0 && (
          <p className="notice">
            {basis.unpriced(short(total.unpricedTokens), listed(unpricedModels))}
          </p>
        )}
        {report.uncountedHosts.length > 0 && (
          <div className="notice">
            <p>{basis.uncounted(listed(report.uncountedHosts))}</p>
            <Command command={basis.allow} />
          </div>
        )}
        {report.limited && <p className="notice">{basis.limited}</p>}
        <p>{basis.prices(report.pricesDate, source)}</p>
        <p className="quiet">{basis.counted}</p>
      </div>
    </section>
  )
}

/** The first few of these names. */
function listed(names: ReadonlyArray<string>): string {
  const { basis } = text
  return names
    .slice(0, NAMED)
    .map((name) => onOneLine(name) || basis.unknown)
    .concat(names.length > NAMED ? [basis.more(names.length - NAMED)] : [])
    .join(', ')
}

function Nothing() {
  return (
    <Empty title={text.empty.title}>
      <p>{text.empty.about}</p>
      <p>{text.empty.how}</p>
      <Command command={text.empty.command} />
    </Empty>
  )
}
