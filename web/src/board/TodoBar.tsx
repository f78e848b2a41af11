import { visible } from '../parts/visible'
import type { Plate } from '../server/types'
import { text as words } from './text'

/** How much of its list an agent has done, and what it is at. */
export function TodoBar({ plate }: { readonly plate: Plate }) {
  const { todos, todoProgress } = plate
  if (!todoProgress) return null
  const done = todos.filter((todo) => todo.status === 'completed').length
  const now = todos.find((todo) => todo.status === 'in_progress')
  return (
    <p className="todos">
      <progress max={todos.length} value={done} aria-label={words.card.todos(done, todos.length)} />
      <span className="todos__count">{todoProgress}</span>
      {now && <span className="todos__now quiet">{visible(now.text)}</span>}
    </p>
  )
}
