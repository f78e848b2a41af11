import { useMemo } from 'react'
import { shorten } from '../parts/shorten'
import type { Workflow } from '../server/types'
import { layout, NODE } from '../session/layout'
import { text } from './text'

/** The phases and the ways between them. */
export function Phases({ workflow }: { readonly workflow: Workflow }) {
  const drawing = useMemo(() => layout(workflow.phases, workflow.edges), [workflow])
  const names = workflow.phases.map((phase) => phase.name)
  return (
    <div className="panel is-wide">
      <header>
        <h2 id="phases">{text.phases.title}</h2>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <section className="graph phases" aria-labelledby="phases" tabIndex={0}>
        <svg
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          width={drawing.width}
          height={drawing.height}
          role="img"
          aria-label={text.phases.label(workflow.id, names)}
        >
          <defs>
            <marker
              id="phase-tip"
              viewBox="0 0 8 8"
              refX="6"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto-start-reverse"
            >
              <path d="M0 0 8 4 0 8z" fill="context-stroke" />
            </marker>
          </defs>
          {drawing.edges.map(({ edge, path }) => (
            <path
              key={`${edge.from} ${edge.to}`}
              className="graph__edge"
              data-taken={edge.taken}
              d={path}
              markerEnd="url(#phase-tip)"
            />
          ))}
          {drawing.nodes.map(({ phase, x, y }) => {
            const under = [phase.agent, phase.human ? text.phases.person : null]
              .filter(Boolean)
              .join(' · ')
            return (
              <g key={phase.name} className="graph__node">
                <title>{phase.name}</title>
                <rect
                  x={x}
                  y={y}
                  width={NODE.width}
                  height={NODE.height}
                  rx={phase.terminal ? 23 : 7}
                />
                <text x={x + 14} y={y + (under ? 20 : 28)} className="graph__name">
                  {shorten(phase.name, 17)}
                </text>
                {under && (
                  <text x={x + 14} y={y + 36} className="graph__under">
                    {shorten(under, 21)}
                  </text>
                )}
              </g>
            )
          })}
        </svg>
      </section>
    </div>
  )
}
