import { memo } from 'react'
import { Ago } from '../parts/Ago'
import { BranchIcon, HostIcon, PinIcon } from '../parts/icons'
import { firstLine, onOneLine, visible } from '../parts/visible'
import { Link } from '../router/Link'
import { to } from '../router/route'
import type { Plate } from '../server/types'
import { agentName, titleOf } from './names'
import { PlateActions } from './PlateActions'
import { PlateAsk } from './PlateAsk'
import { PlateStatus } from './PlateStatus'
import { TodoBar } from './TodoBar'
import { text } from './text'
import { Unreachable } from './Unreachable'

interface Props {
  readonly plate: Plate
  /** Whether it was chosen with the keys: then they are its own. */
  readonly chosen: boolean
  /** Whether to say which machine it is on. */
  readonly showsHost: boolean
  /** Since when its machine can't be reached. */
  readonly lostSince: string | null
}

/** One coding agent's session: how it stands, what it asks, and the answer. */
export const PlateCard = memo(function PlateCard(props: Props) {
  const { plate, chosen, showsHost, lostSince } = props
  const id = `plate-${plate.plateId}`
  const classes = ['plate', plate.attention && 'is-needy', chosen && 'is-chosen']
  return (
    <article
      className={classes.filter(Boolean).join(' ')}
      aria-labelledby={id}
      aria-current={chosen ? 'true' : undefined}
    >
      <header className="plate__head">
        <PlateStatus plate={plate} isStale={lostSince !== null} />
        <h2 className="plate__title" id={id}>
          <Link to={to.plate(plate.plateId)}>{titleOf(plate)}</Link>
          {plate.unseen && (
            <span className="plate__unseen">
              <span className="hidden">{text.card.unseen}</span>
            </span>
          )}
          {plate.pinned && (
            <span className="plate__pin" title={text.card.pinnedHint}>
              <PinIcon />
              <span className="hidden">{text.card.pinned}</span>
            </span>
          )}
        </h2>
        <About plate={plate} showsHost={showsHost} />
        <PlateActions plate={plate} keys={chosen} />
      </header>
      {lostSince && <Unreachable since={lostSince} />}
      <PlateAsk plate={plate} keys={chosen} />
      <Doing plate={plate} />
      <TodoBar plate={plate} />
    </article>
  )
})

function About({ plate, showsHost }: Pick<Props, 'plate' | 'showsHost'>) {
  return (
    <p className="plate__about">
      <span>{agentName(plate.agent)}</span>
      {showsHost && plate.hostName && (
        <span className="plate__host" title={onOneLine(plate.hostName)}>
          <HostIcon />
          <span className="hidden">{text.card.host} </span>
          <span>{onOneLine(plate.hostName)}</span>
        </span>
      )}
      {plate.gitBranch && (
        <span className="plate__branch">
          <BranchIcon />
          <span className="hidden">{text.card.branch} </span>
          {visible(plate.gitBranch)}
        </span>
      )}
      <span className="plate__path mono" title={visible(plate.projectPath)}>
        {visible(plate.projectPath)}
      </span>
      <Ago moment={plate.updatedAt} />
    </p>
  )
}

/** What it does, or said last; one line each. */
function Doing({ plate }: { readonly plate: Plate }) {
  const { status, error, lastTool, lastMessage, prompt, background } = plate
  return (
    <div className="plate__doing">
      {error && <p className="plate__error">{firstLine(error)}</p>}
      {status === 'running' && lastTool && (
        <p>
          {text.card.uses} <strong>{visible(lastTool)}</strong>
        </p>
      )}
      {status === 'idle' && lastMessage && <p>{firstLine(lastMessage)}</p>}
      {status !== 'idle' && prompt && (
        <p className="quiet">{text.card.prompt(firstLine(prompt))}</p>
      )}
      {background.length > 0 && <p className="quiet">{text.card.background(background.length)}</p>}
    </div>
  )
}
