import { useMemo } from 'react'
import type { SerializedEvent, Workflow } from '../server/types'
import { layout, NODE, type Placed } from './layout'
import { type Path, pathAt, way } from './path'

interface Props {
  readonly workflow: Workflow
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly waiting: boolean
}

/** The workflow, with the path that the session took up to a position. */
export function Graph({ workflow, events, position, waiting }: Props) {
  const path = useMemo(() => pathAt(events, position), [events, position])
  const drawing = useMemo(() => layout(workflow.phases, workflow.edges), [workflow])
  return (
    // It may be wider than its panel, and then the keyboard has to be able to scroll it.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
    <section className="panel graph" aria-label="Path through the workflow" tabIndex={0}>
      <svg
        viewBox={`0 0 ${drawing.width} ${drawing.height}`}
        width={drawing.width}
        height={drawing.height}
        role="img"
        aria-label={inWords(workflow, path)}
      >
        <defs>
          <marker
            id="tip"
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
        {drawing.edges.map(({ edge, path: line }) => {
          const times = path.taken.get(way(edge.from, edge.to)) ?? 0
          return (
            <path
              key={way(edge.from, edge.to)}
              className={`graph__edge ${times ? 'is-taken' : ''}`}
              data-taken={edge.taken}
              d={line}
              markerEnd="url(#tip)"
            />
          )
        })}
        {drawing.nodes.map((node) => (
          <Node key={node.phase.name} node={node} path={path} waiting={waiting} />
        ))}
      </svg>
    </section>
  )
}

function standing(name: string, path: Path, waiting: boolean): string {
  if (path.failed.has(name)) return 'is-failed'
  if (path.current === name) return waiting ? 'is-waiting' : 'is-current'
  if (path.skipped.has(name)) return 'is-skipped'
  return path.visits.has(name) ? 'is-visited' : ''
}

function Node(props: { readonly node: Placed; readonly path: Path; readonly waiting: boolean }) {
  const { node, path, waiting } = props
  const { phase, x, y } = node
  const visits = path.visits.get(phase.name) ?? 0
  const skipped = path.skipped.has(phase.name) ? 'skipped' : null
  const under = [skipped, phase.agent, phase.human ? 'a person' : null].filter(Boolean).join(' · ')
  return (
    <g className={`graph__node ${standing(phase.name, path, waiting)}`}>
      <rect x={x} y={y} width={NODE.width} height={NODE.height} rx={phase.terminal ? 23 : 7} />
      <text x={x + 14} y={y + (under ? 20 : 28)} className="graph__name">
        {shorten(phase.name, visits > 1 ? 13 : 17)}
      </text>
      {under && (
        <text x={x + 14} y={y + 36} className="graph__under">
          {shorten(under, 21)}
        </text>
      )}
      {visits > 1 && (
        <text x={x + NODE.width - 12} y={y + 20} textAnchor="end" className="graph__visits">
          ×{visits}
        </text>
      )}
    </g>
  )
}

function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** What the picture shows, for those who do not see it. */
function inWords(workflow: Workflow, path: Path): string {
  const visited = [...path.visits].map(([name, times]) =>
    times > 1 ? `${name} ${times} times` : name,
  )
  const sofar = visited.length ? `entered ${visited.join(', ')}` : 'nothing entered yet'
  const skipped = path.skipped.size ? `; skipped ${[...path.skipped].join(', ')}` : ''
  const now = path.current ? `; now in ${path.current}` : ''
  return `${workflow.id}, ${workflow.phases.length} phases: ${sofar}${skipped}${now}`
}
