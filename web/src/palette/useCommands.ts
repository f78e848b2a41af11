import { useBoard, useInbox, useSessions } from '@callboard/react'
import { useMemo } from 'react'
import { agentName, titleOf } from '../board/names'
import { wordFor } from '../parts/Status'
import { useSettled } from '../parts/useSettled'
import { firstLine } from '../parts/visible'
import { navigate } from '../router/navigation'
import { to } from '../router/route'
import type { Interaction, Plate, Session } from '../server/types'
import { PLACES } from '../shell/places'
import type { Shortcut } from '../shell/shortcuts'
import { text as shell } from '../shell/text'
import { type Command, matching } from './commands'
import { text as words } from './text'

const PAGES: ReadonlyArray<Command> = PLACES.map(({ name, path, keys }) => ({
  id: `page ${path}`,
  group: words.groups.pages,
  label: name,
  keys,
  run: () => navigate(path),
}))

/** What fits what was written: actions of the page, pages, questions, plates, sessions. */
export function useCommands(text: string, actions: ReadonlyArray<Shortcut>) {
  const { interactions } = useInbox()
  const { plates } = useBoard()
  // The server looks through all sessions, but not with every key.
  const q = useSettled(text.trim())
  const { sessions, isPlaceholderData, isLoading } = useSessions({ ...(q && { q }), limit: 10 })
  const isLate = isPlaceholderData || isLoading || q !== text.trim()
  const commands = useMemo(() => {
    const known = [
      // First, so that Enter alone leads somewhere and answers nothing.
      ...PAGES,
      ...[...actions].filter(isAction).sort(byPlace).map(action),
      ...interactions.map(question),
      ...plates.map(plateCommand),
    ]
    const found = sessions.map(session)
    // A person who is quicker than the server must not be led to what fitted the text before.
    return [...matching(known, text), ...(isLate ? matching(found, text) : found)]
  }, [text, actions, interactions, plates, sessions, isLate])
  return { commands, isLate }
}

/** The pages have commands of their own, and the list of keys is elsewhere. */
function isAction({ keys }: Shortcut): boolean {
  return !keys.startsWith('g ') && !keys.includes('+') && keys !== 'Enter'
}

/** What this page can do stands before what every page can do. */
function byPlace(a: Shortcut, b: Shortcut): number {
  return Number(a.group === shell.everywhere) - Number(b.group === shell.everywhere)
}

function action({ group, keys, label, run }: Shortcut): Command {
  return { id: `action ${keys}`, group: words.groups.actions, label, hint: group, keys, run }
}

function question({ id, prompt, type }: Interaction): Command {
  const run = () => navigate(to.inbox(id))
  return {
    id: `question ${id}`,
    group: words.groups.inbox,
    label: firstLine(prompt),
    hint: type,
    run,
  }
}

function plateCommand(plate: Plate): Command {
  const hint = [agentName(plate.agent), plate.gitBranch, plate.status].filter(Boolean).join(' · ')
  const run = () => navigate(to.plate(plate.plateId))
  return {
    id: `plate ${plate.plateId}`,
    group: words.groups.board,
    label: titleOf(plate),
    hint,
    run,
  }
}

function session({ sessionId, title, workflow, status }: Session): Command {
  const hint = `${workflow} · ${wordFor(status)}`
  const run = () => navigate(to.session(sessionId))
  return {
    id: `session ${sessionId}`,
    group: words.groups.sessions,
    label: title ?? sessionId,
    hint,
    run,
  }
}
