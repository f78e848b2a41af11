import { useId, useMemo, useState } from 'react'
import { shorten } from '../parts/shorten'
import { onOneLine } from '../parts/visible'
import type { Edge, SerializedEvent, Workflow } from '../server/types'
import { layout, NODE, type Placed } from './layout'
import { folded, loopsOf, type Stop } from './loops'
import { type Path, pathAt, way } from './path'
import { text } from './text'
import { useViewport } from './useViewport'

interface Props {
  readonly workflow: Workflow
  readonly events: ReadonlyArray<SerializedEvent>
  readonly position: number
  readonly waiting: boolean
}

/** Workflows with more phases than this open with their loops folded. */
const FOLDED_FROM = 30
const HEIGHT = { least: 150, most: 380 } as const

/** The workflow, with the path that the session took up to a position. */
export function Graph({ workflow, events, position, waiting }: Props) {
  const id = useId()
  const [folds, setFolds] = useState(workflow.phases.length > FOLDED_FROM)
  const path = useMemo(() => pathAt(events, position), [events, position])
  const loops = useMemo(() => loopsOf(workflow.phases, workflow.edges), [workflow])
  const { stops, edges, stopOf } = useMemo(
    () => folded(workflow.phases, workflow.edges, folds ? loops : []),
    [workflow, folds, loops],
  )
  const drawing = useMemo(() => layout(stops, edges), [stops, edges])
  const taken = useMemo(() => takenBetween(workflow.edges, path, stopOf), [workflow, path, stopOf])
  const phase = path.current ?? path.last
  const here = drawing.nodes.find((node) => phase && node.phase.name === stopOf.get(phase))
  const around = here ? { x: here.x + NODE.width / 2, y: here.y + NODE.height / 2 } : null
  const { ref, view, dragging, handlers, ...moves } = useViewport(drawing, around)
  return (
    <section className="panel graph" aria-label={text.graph.label}>
      <section
        ref={ref}
        className={`graph__window ${dragging ? 'is-dragging' : ''}`}
        style={{ height: Math.min(HEIGHT.most, Math.max(HEIGHT.least, drawing.height)) }}
        aria-label={text.graph.window}
        aria-describedby={id}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be moved takes the focus
        tabIndex={0}
        {...handlers}
      >
        <p id={id} className="hidden">
          {text.graph.keys}
        </p>
        <svg width="100%" height="100%" role="img" aria-label={inWords(workflow, path)}>
          <Tip />
          {view && (
            <g
              className="graph__drawing"
              style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
            >
              {drawing.edges.map(({ edge, path: line }) => (
                <path
                  key={way(edge.from, edge.to)}
                  className={`graph__edge ${taken.has(way(edge.from, edge.to)) ? 'is-taken' : ''}`}
                  data-taken={edge.taken}
                  d={line}
                  markerEnd="url(#tip)"
                />
              ))}
              {drawing.nodes.map((node) => (
                <Node key={node.phase.name} node={node} path={path} waiting={waiting} />
              ))}
            </g>
          )}
        </svg>
      </section>
      <div className="graph__tools">
        {loops.length > 0 && (
          <button
            type="button"
            className="button"
            aria-pressed={folds}
            onClick={() => setFolds(!folds)}
          >
            {text.graph.foldLoops(loops.length)}
          </button>
        )}
        <button type="button" className="button" onClick={moves.centre}>
          {text.graph.center}
        </button>
        <button type="button" className="button" onClick={moves.fit}>
          {text.graph.fit}
        </button>
        <ZoomButton label={text.graph.zoomOut} sign="−" onClick={moves.zoomOut} />
        <ZoomButton label={text.graph.zoomIn} sign="+" onClick={moves.zoomIn} />
      </div>
    </section>
  )
}

interface ZoomProps {
  readonly label: string
  readonly sign: string
  readonly onClick: () => void
}

function ZoomButton({ label, sign, onClick }: ZoomProps) {
  return (
    <button
      type="button"
      className="button graph__zoom"
      aria-label={label}
      title={label}
      onClick={onClick}
    >
      {sign}
    </button>
  )
}

function Tip() {
  return (
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
  )
}

/** The ways between boxes that were taken. */
function takenBetween(
  edges: ReadonlyArray<Edge>,
  path: Path,
  stopOf: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const taken = edges.filter(({ from, to }) => path.taken.has(way(from, to)))
  return new Set(taken.map(({ from, to }) => way(stopOf.get(from) ?? from, stopOf.get(to) ?? to)))
}

function standing({ phases }: Stop, path: Path, waiting: boolean): string {
  const some = (among: { has(name: string): boolean }) => phases.some(({ name }) => among.has(name))
  if (some(path.failed)) return 'is-failed'
  if (phases.some(({ name }) => name === path.current)) return waiting ? 'is-waiting' : 'is-current'
  if (phases.every(({ name }) => path.skipped.has(name))) return 'is-skipped'
  return some(path.visits) ? 'is-visited' : ''
}

interface NodeProps {
  readonly node: Placed<Stop>
  readonly path: Path
  readonly waiting: boolean
}

function Node({ node, path, waiting }: NodeProps) {
  const { phase: stop, x, y } = node
  const visits = stop.phases.reduce((sum, { name }) => sum + (path.visits.get(name) ?? 0), 0)
  const under = underName(stop, path)
  const isLoop = stop.phases.length > 1
  const radius = stop.phases.every((phase) => phase.terminal) ? 23 : 7
  const size = { width: NODE.width, height: NODE.height, rx: radius }
  return (
    <g className={`graph__node ${standing(stop, path, waiting)}`} data-phase={stop.name}>
      <title>{onOneLine(stop.phases.map(({ name }) => name).join(' → '))}</title>
      {isLoop && <rect className="graph__behind" x={x + 4} y={y + 4} {...size} />}
      <rect x={x} y={y} {...size} />
      <text x={x + 14} y={y + (under ? 20 : 28)} className="graph__name">
        {shorten(onOneLine(stop.name), visits > 1 ? 13 : 17)}
      </text>
      {under && (
        <text x={x + 14} y={y + 36} className="graph__under">
          {shorten(onOneLine(under), 21)}
        </text>
      )}
      {visits > 1 && (
        <text x={x + NODE.width - 12} y={y + 20} textAnchor="end" className="graph__visits">
          {text.graph.visits(visits)}
        </text>
      )}
    </g>
  )
}

function underName({ phases }: Stop, path: Path): string {
  const [phase] = phases
  if (phases.length > 1) {
    const current = phases.find(({ name }) => name === path.current)
    return current ? text.graph.inLoop(current.name) : text.graph.loop(phases.length)
  }
  if (!phase) return ''
  const skipped = path.skipped.has(phase.name) ? text.graph.skipped : null
  return [skipped, phase.agent, phase.human ? text.graph.person : null].filter(Boolean).join(' · ')
}

/** A list that is read aloud has to end. */
const MOST_NAMES = 12

/** What the picture shows, for people who cannot see it. */
function inWords(workflow: Workflow, path: Path): string {
  const names = (all: ReadonlyArray<string>) =>
    [...all.slice(0, MOST_NAMES), ...(all.length > MOST_NAMES ? [text.graph.more] : [])].join(', ')
  const visited = [...path.visits].map(([name, times]) => text.graph.entered(name, times))
  return text.graph.inWords({
    workflow: workflow.id,
    phases: workflow.phases.length,
    visited: names(visited),
    skipped: names([...path.skipped]),
    current: path.current,
  })
}
