import { useEffect, useRef, useSyncExternalStore } from 'react'
import { askOf } from '../asks/ask'
import { agentName, lastPart } from '../board/names'
import { visible } from '../parts/visible'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Interaction } from '../server/types'
import { text } from './text'

const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function permission(): NotificationPermission | 'missing' {
  return 'Notification' in window ? Notification.permission : 'missing'
}

/** Whether the browser reports new questions, and a way to ask it to. */
export function useNotificationPermission() {
  const state = useSyncExternalStore(subscribe, permission)
  const ask = async () => {
    await Notification.requestPermission()
    for (const listener of listeners) listener()
  }
  return { state, ask }
}

/** Tell of questions that came while the page was not looked at. */
export function useNotifications(questions: ReadonlyArray<Interaction>, isLoading: boolean): void {
  const known = useRef<Set<string> | null>(null)
  useEffect(() => {
    if (isLoading) return
    const before = known.current
    known.current = new Set(questions.map((question) => question.id))
    // What was there when the page opened is on the page; only what comes later is news.
    if (!before || permission() !== 'granted' || document.hasFocus()) return
    for (const question of questions) {
      if (!before.has(question.id)) notify(question)
    }
  }, [questions, isLoading])
}

function notify(question: Interaction): void {
  const note = new Notification(titleFor(question), {
    body: visible(question.prompt.slice(0, 200)),
    tag: question.id,
  })
  note.onclick = () => {
    window.focus()
    navigate(to.inbox(question.id))
    note.close()
  }
}

/** Who calls: an agent and where it works, so that one knows from the other end of the desk. */
function titleFor(question: Interaction): string {
  const ask = askOf(question)
  if (!ask) return text.notifications.session
  return text.notifications.agent(agentName(ask.agent), ask.cwd ? lastPart(ask.cwd) : null)
}
