import { type DailyBudget, useBudget } from '@callboard/react'
import { type FormEvent, type RefObject, useId, useState } from 'react'
import { dollars } from '../parts/amounts'
import { Problem } from '../parts/Problem'
import { Link } from '../router/Link'
import { to } from '../router/route'
import { useMayOperate } from '../server/useScope'
import { shareOf } from './share'
import { text } from './text'

const MOST = 1_000_000

interface Props {
  readonly budget: DailyBudget
  readonly field: RefObject<HTMLInputElement | null>
}

/** The budget, how much of it is spent, and the form that changes it. */
export function BudgetPanel({ budget, field }: Props) {
  const mayOperate = useMayOperate()
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{text.budget.title}</h2>
      </header>
      <div className="panel__body usage__budget">
        <p className="quiet">{text.budget.about}</p>
        {budget.interactionId && (
          <p className="notice">
            {text.budget.reached}{' '}
            <Link to={to.inbox(budget.interactionId)}>{text.budget.answer}</Link>
          </p>
        )}
        {budget.limit === null ? <p>{text.budget.none}</p> : <Spent budget={budget} />}
        {mayOperate && <BudgetForm key={budget.daily} budget={budget} field={field} />}
        {mayOperate === false && <p className="quiet">{text.budget.needs}</p>}
      </div>
    </section>
  )
}

function Spent({ budget }: { readonly budget: DailyBudget }) {
  const { spent, limit, daily } = budget
  if (limit === null || daily === null) return null
  const share = shareOf(spent, limit)
  return (
    <div className="usage__spent">
      <p>
        <strong>{text.budget.spent(dollars(spent), dollars(limit))}</strong>{' '}
        <span className="quiet">{text.budget.left(share)}</span>
      </p>
      <div className={`usage__meter ${spent >= limit ? 'is-over' : ''}`} aria-hidden="true">
        <span style={{ width: `${Math.min(100, share)}%` }} />
      </div>
      {limit > daily && <p className="quiet">{text.budget.raised(dollars(daily))}</p>}
    </div>
  )
}

function BudgetForm({ budget, field }: Props) {
  const { setBudget, isSetting } = useBudget()
  const [given, setGiven] = useState(budget.daily === null ? '' : String(budget.daily))
  const [error, setError] = useState<unknown>(null)
  const id = useId()
  const change = async (daily: number | null) => {
    try {
      setError(null)
      await setBudget(daily)
    } catch (problem) {
      setError(problem)
    }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const daily = Number(given)
    if (given.trim() === '' || !(daily > 0 && daily <= MOST)) setError(text.budget.wrong)
    else void change(daily)
  }
  return (
    <form className="usage__form" onSubmit={submit} noValidate>
      <div className="field">
        <label htmlFor={id}>{text.budget.label}</label>
        <input
          ref={field}
          id={id}
          className="input"
          inputMode="decimal"
          autoComplete="off"
          value={given}
          onChange={(event) => setGiven(event.target.value)}
          aria-invalid={error === text.budget.wrong}
        />
      </div>
      <button type="submit" className="button button--lamp" disabled={isSetting}>
        {text.budget.set}
      </button>
      {budget.daily !== null && (
        <button
          type="button"
          className="button"
          disabled={isSetting}
          onClick={() => void change(null)}
        >
          {text.budget.remove}
        </button>
      )}
      {error !== null && <Problem error={error} />}
    </form>
  )
}
