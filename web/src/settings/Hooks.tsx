import { type AgentHooks, type HookTest, useWorkflowClient } from '@callboard/react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { say } from '../parts/Toasts'
import { CodeBlock } from '../prompts/CodeBlock'
import { text } from './text'

const KEY = ['hooks']

type Change = 'install' | 'remove'

/** The hooks of every coding agent on the server's machine. */
export function Hooks() {
  const client = useWorkflowClient()
  const [asked, setAsked] = useState<{ agent: string; what: Change } | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => client.listHooks(signal),
  })
  if (error) return <Problem error={error} onRetry={() => void refetch()} />
  if (!data) return <p className="quiet">{text.loading}</p>
  const shown = asked && data.find((one) => one.agent === asked.agent)
  return (
    <>
      <ul className="hooks">
        {data.map((one) => (
          <li key={one.agent}>
            <Agent hooks={one} onAsk={(what) => setAsked({ agent: one.agent, what })} />
          </li>
        ))}
      </ul>
      {asked && shown && (
        <ChangeDialog hooks={shown} what={asked.what} onClose={() => setAsked(null)} />
      )}
    </>
  )
}

interface AgentProps {
  readonly hooks: AgentHooks
  readonly onAsk: (what: Change) => void
}

function Agent({ hooks, onAsk }: AgentProps) {
  const client = useWorkflowClient()
  const { state, problems } = hooks
  const isThere = state === 'current' || state === 'outdated'
  const test = useMutation({ mutationFn: () => client.testHooks(hooks.agent) })
  const isTold = isThere || state === 'unusable'
  return (
    <>
      <div className="hooks__head">
        <strong>{hooks.title}</strong>
        <span className="quiet">{stateOf(hooks)}</span>
        <div className="hooks__do">
          <Ask hooks={hooks} what="install" onAsk={onAsk} />
          {isThere && (
            <button
              type="button"
              className="button"
              aria-label={text.hooks.of(text.hooks.test, hooks.title)}
              disabled={test.isPending}
              onClick={() => test.mutate()}
            >
              {test.isPending ? text.hooks.testing : text.hooks.test}
            </button>
          )}
          <Ask hooks={hooks} what="remove" onAsk={onAsk} />
        </div>
      </div>
      {isThere && (
        <p className="quiet">{hooks.answers ? text.hooks.answersOn : text.hooks.answersOff}</p>
      )}
      {isTold &&
        problems.map((problem) => (
          <p className="notice" key={problem}>
            {problem}
          </p>
        ))}
      {test.error && <Problem error={test.error} />}
      <p role="status" className="hooks__said">
        {test.data && outcomeOf(test.data)}
      </p>
    </>
  )
}

interface AskProps extends AgentProps {
  readonly what: Change
}

/** Opens the diff of a change, if there is anything to change. */
function Ask({ hooks, what, onAsk }: AskProps) {
  const isInstall = what === 'install'
  if (!(isInstall ? hooks.installDiff : hooks.removeDiff)) return null
  const update = hooks.state === 'absent' ? text.hooks.install : text.hooks.update
  const name = isInstall ? update : text.hooks.remove
  return (
    <button
      type="button"
      className={isInstall ? 'button' : 'button button--danger'}
      aria-label={text.hooks.of(name, hooks.title)}
      onClick={() => onAsk(what)}
    >
      {name}
    </button>
  )
}

function stateOf({ state, found }: AgentHooks): string {
  return state === 'absent' && !found ? text.hooks.notFound : text.hooks.states[state]
}

function outcomeOf({ arrived, durationMs }: HookTest): string {
  return arrived ? text.hooks.arrived(durationMs) : text.hooks.lost
}

interface ChangeProps {
  readonly hooks: AgentHooks
  readonly what: Change
  readonly onClose: () => void
}

function ChangeDialog({ hooks, what, onClose }: ChangeProps) {
  const client = useWorkflowClient()
  const queries = useQueryClient()
  const [diff] = useState(what === 'install' ? hooks.installDiff : hooks.removeDiff)
  const isInstall = what === 'install'
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      isInstall ? client.installHooks(hooks.agent, diff) : client.removeHooks(hooks.agent, diff),
    onSuccess: () => {
      say(isInstall ? text.hooks.installed(hooks.title) : text.hooks.removed(hooks.title))
      onClose()
    },
    onSettled: () => queries.invalidateQueries({ queryKey: KEY }),
  })
  const title = isInstall ? text.hooks.installTitle : text.hooks.removeTitle
  return (
    <Dialog title={title(hooks.title)} onClose={onClose}>
      <p>{text.hooks.changes}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus */}
      <section className="settings__diff" aria-label={hooks.path} tabIndex={0}>
        <CodeBlock text={diff} info="diff" />
      </section>
      {error && <Problem error={error} />}
      <div className="dialog__foot">
        <button type="button" className="button" onClick={onClose}>
          {text.hooks.cancel}
        </button>
        <button
          type="button"
          className={isInstall ? 'button button--lamp' : 'button button--danger'}
          disabled={isPending}
          onClick={() => mutate()}
        >
          {isInstall ? text.hooks.confirmInstall : text.hooks.confirmRemove}
        </button>
      </div>
    </Dialog>
  )
}
