import { useBoard, useHosts } from '@callboard/react'
import { type FormEvent, useId, useState } from 'react'
import { agentName } from '../board/names'
import { Dialog } from '../parts/Dialog'
import { PlusIcon } from '../parts/icons'
import { Problem } from '../parts/Problem'
import { visible } from '../parts/visible'
import type { RelayHost } from '../server/types'
import { useMayOperate } from '../server/useScope'
import { text } from './text'
import { useStart } from './useStart'

/** The agents that can be started, as the server calls them. */
const AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const

/** The button that starts a coding agent, for those who may. */
export function StartAgent() {
  const mayStart = useMayOperate()
  const [isOpen, setOpen] = useState(false)
  if (!mayStart) return null
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        <PlusIcon /> {text.open}
      </button>
      {isOpen && <StartDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function StartDialog({ onClose }: { readonly onClose: () => void }) {
  const { plates } = useBoard()
  const { hosts } = useHosts()
  const id = useId()
  const [agent, setAgent] = useState<string>(AGENTS[0])
  const [host, setHost] = useState('')
  const folders = foldersOn(plates, hosts, host)
  const [folder, setFolder] = useState(folders[0] ?? '')
  const [prompt, setPrompt] = useState('')
  const start = useStart(onClose)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate({ agent, folder, prompt: prompt.trim() ? prompt : null, host: host || null })
  }
  return (
    <Dialog title={text.title} onClose={onClose}>
      <form className="startform" aria-label={text.title} onSubmit={submit}>
        <div className="field">
          <label htmlFor={`${id}-agent`}>{text.agent}</label>
          <select
            id={`${id}-agent`}
            className="input"
            value={agent}
            onChange={(event) => setAgent(event.target.value)}
          >
            {AGENTS.map((one) => (
              <option key={one} value={one}>
                {agentName(one)}
              </option>
            ))}
          </select>
        </div>
        {hosts.length > 0 && (
          <div className="field">
            <label htmlFor={`${id}-host`}>{text.host}</label>
            <select
              id={`${id}-host`}
              className="input"
              value={host}
              onChange={(event) => setHost(event.target.value)}
            >
              <option value="">{text.ownHost}</option>
              {hosts.map((one) => (
                <option key={one.id} value={one.id} disabled={!canStart(one)}>
                  {labelOf(one)}
                </option>
              ))}
            </select>
          </div>
        )}
        <div className="field">
          <label htmlFor={`${id}-folder`}>{text.folder}</label>
          <input
            id={`${id}-folder`}
            className="input mono"
            list={`${id}-folders`}
            required
            value={folder}
            onChange={(event) => setFolder(event.target.value)}
          />
          <datalist id={`${id}-folders`}>
            {folders.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
          <span className="field__hint">{text.folderHint}</span>
        </div>
        <div className="field">
          <label htmlFor={`${id}-prompt`}>{text.prompt}</label>
          <textarea
            id={`${id}-prompt`}
            className="input"
            rows={4}
            value={prompt}
            onChange={(event) => setPrompt(event.target.value)}
          />
          <span className="field__hint">
            {text.background.before}
            <code>{text.background.command}</code>
            {text.background.after}
          </span>
        </div>
        {start.error && <Problem error={start.error} />}
        <div className="dialog__foot">
          <button type="button" className="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" className="button button--lamp" disabled={start.isPending}>
            {start.isPending ? text.starting : text.start}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function canStart({ connected, powers }: RelayHost): boolean {
  return connected && powers.includes('start')
}

function labelOf(host: RelayHost): string {
  const name = visible(host.name)
  if (!host.connected) return text.away(name)
  return canStart(host) ? name : text.notAllowed(name)
}

/** The folders where agents of a machine were, the latest first; '' is the server's own. */
function foldersOn(
  plates: ReturnType<typeof useBoard>['plates'],
  hosts: ReadonlyArray<RelayHost>,
  host: string,
): ReadonlyArray<string> {
  const others = new Set(hosts.map((one) => one.id))
  const there = plates.filter((one) => (host ? one.host === host : !others.has(one.host)))
  const latest = [...there].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt))
  return [...new Set(latest.map((one) => one.projectPath).filter(Boolean))]
}
