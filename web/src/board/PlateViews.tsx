import { type KeyboardEvent, useId, useRef } from 'react'
import { Changes } from '../changes/Changes'
import { Conversation } from '../conversation/Conversation'
import { useParameter } from '../router/navigation'
import type { Plate } from '../server/types'
import { PlateTimeline } from './PlateTimeline'
import { text } from './text'

const VIEWS = ['conversation', 'changes', 'events'] as const
type View = (typeof VIEWS)[number]

function viewOf(given: string | null): View {
  return VIEWS.find((view) => view === given) ?? 'conversation'
}

const MOVES: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** What there is to see of a plate, one view at a time. */
export function PlateViews({ plate }: { readonly plate: Plate }) {
  const [given, setView] = useParameter('view')
  const view = viewOf(given)
  const id = useId()
  const tabs = useRef<HTMLDivElement>(null)
  const show = (next: View) => setView(next === VIEWS[0] ? null : next)
  const move = (event: KeyboardEvent) => {
    const by = MOVES[event.key]
    if (by === undefined) return
    const index = (VIEWS.indexOf(view) + by + VIEWS.length) % VIEWS.length
    show(VIEWS[index] ?? 'conversation')
    tabs.current?.querySelectorAll('button')[index]?.focus()
  }
  return (
    <div className="views">
      <div
        className="tabs views__tabs"
        role="tablist"
        aria-label={text.plate.views}
        ref={tabs}
        onKeyDown={move}
      >
        {VIEWS.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            id={`${id}-${one}`}
            aria-selected={one === view}
            aria-controls={`${id}-panel`}
            tabIndex={one === view ? 0 : -1}
            onClick={() => show(one)}
          >
            {text.plate.view[one]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${view}`}>
        {view === 'conversation' && (
          <div className="panel talk">
            <Conversation plate={plate} />
          </div>
        )}
        {view === 'changes' && <Changes plate={plate} />}
        {view === 'events' && <PlateTimeline plateId={plate.plateId} />}
      </div>
    </div>
  )
}
