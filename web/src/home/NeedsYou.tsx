import { useHosts } from '@callboard/react'
import { askOf } from '../asks/ask'
import { unreachableHost } from '../board/hosts'
import { agentName, titleOf } from '../board/names'
import { Unreachable } from '../board/Unreachable'
import { askerOf } from '../inbox/asker'
import { byUrgency } from '../inbox/urgency'
import { Ago } from '../parts/Ago'
import { StatusShape } from '../parts/Status'
import { firstLine, onOneLine } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Interaction, Plate } from '../server/types'
import { Brief } from './Brief'
import { text } from './text'

const MOST = 6

interface Props {
  readonly questions: ReadonlyArray<Interaction>
  readonly plates: ReadonlyArray<Plate>
}

/** The questions to answer first, then agents that wait without a question that we could answer. */
export function NeedsYou({ questions, plates }: Props) {
  const { hosts } = useHosts()
  const lostSince = (plate: Plate) => unreachableHost(plate, hosts)?.seenAt
  const lostAsker = (question: Interaction) => {
    const plate = plates.find((one) => one.plateId === askOf(question)?.plateId)
    return plate && lostSince(plate)
  }
  const asked = new Set(questions.map((one) => one.id))
  const others = plates.filter((one) => !one.interactionId || !asked.has(one.interactionId))
  const first = byUrgency(questions, Date.now()).slice(0, MOST)
  const more = (
    <Link className="more" to={to.inbox()}>
      {questions.length > MOST ? text.needs.all(questions.length) : text.needs.inbox}
    </Link>
  )
  return (
    <Brief id="needs" title={text.needs.title} calm={text.needs.calm} more={more}>
      {[
        ...first.map((one) => (
          <li key={one.id} className="glance__row">
            <Lamp />
            <Link className="glance__text" to={to.inbox(one.id)}>
              <strong>{firstLine(one.prompt)}</strong>
              <span className="quiet">
                {askerOf(one)} · <Ago moment={one.createdAt} />
              </span>
              <Lost since={lostAsker(one)} />
            </Link>
            <Link className="button" to={to.inbox(one.id)} aria-label={labelled(one)}>
              {text.needs.answer}
            </Link>
          </li>
        )),
        ...others.slice(0, MOST - first.length).map((one) => (
          <li key={one.plateId} className="glance__row">
            <Lamp />
            <Link className="glance__text" to={to.plate(one.plateId)}>
              <strong>{onOneLine(one.waitingFor ?? titleOf(one))}</strong>
              <span className="quiet">
                {agentName(one.agent)} · {titleOf(one)}
              </span>
              <Lost since={lostSince(one)} />
            </Link>
            <Link className="button" to={to.plate(one.plateId)} aria-label={opened(one)}>
              {text.needs.open}
            </Link>
          </li>
        )),
      ]}
    </Brief>
  )
}

function Lost({ since }: { readonly since: string | undefined }) {
  return since ? <Unreachable since={since} /> : null
}

function Lamp() {
  return (
    <span className="glance__sign glance__sign--waiting">
      <StatusShape status="waiting" />
    </span>
  )
}

function labelled(question: Interaction): string {
  return `${text.needs.answer}: ${firstLine(question.prompt)}`
}

function opened(plate: Plate): string {
  return `${text.needs.open}: ${titleOf(plate)}`
}
