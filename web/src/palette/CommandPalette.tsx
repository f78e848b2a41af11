import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { grouped } from '../parts/grouped'
import { KeyHint } from '../parts/KeyHint'
import type { Shortcut } from '../shell/shortcuts'
import type { Command } from './commands'
import { text as words } from './text'
import { useCommands } from './useCommands'

interface Props {
  /** The actions of the page below; they are read before the palette takes the keys. */
  readonly actions: ReadonlyArray<Shortcut>
  readonly onClose: () => void
}

/** One field that leads everywhere and does everything the page can do. */
export function CommandPalette({ actions, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const { commands, isLate } = useCommands(text, actions)
  const [chosen, setChosen] = useState(0)
  const at = Math.min(chosen, commands.length - 1)
  const id = useId()
  useEffect(() => {
    const here = dialog.current
    if (here && !here.open) here.showModal()
    return () => here?.close()
  }, [])
  const run = (command: Command | undefined) => {
    if (!command) return
    onClose()
    // What an action opens takes the focus, and must not lose it to what had it before.
    window.setTimeout(command.run)
  }
  const pressed = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step) {
      event.preventDefault()
      setChosen((at + step + commands.length) % Math.max(1, commands.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      run(commands[at])
    }
  }
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label={words.menu}
      onClose={() => !dialog.current?.open && onClose()}
      onClick={(event) => event.target === dialog.current && onClose()}
      onKeyDown={pressed}
    >
      <input
        type="text"
        className="palette__field"
        role="combobox"
        aria-label={words.menu}
        aria-expanded={commands.length > 0}
        aria-controls={id}
        aria-activedescendant={commands.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder={words.placeholder}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
        }}
      />
      <Found id={id} commands={commands} at={at} run={run} />
      {commands.length === 0 && (
        <p className="palette__none quiet" role="status">
          {isLate ? words.loading : words.none}
        </p>
      )}
      <p className="palette__foot quiet">
        <span>{words.choose}</span>
        <span>{words.run}</span>
        <span>{words.close}</span>
      </p>
    </dialog>
  )
}

const STEPS: Readonly<Record<string, 1 | -1>> = { ArrowDown: 1, ArrowUp: -1 }

interface FoundProps {
  readonly id: string
  readonly commands: ReadonlyArray<Command>
  readonly at: number
  readonly run: (command: Command) => void
}

function Found({ id, commands, at, run }: FoundProps) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    list.current?.querySelector(`[data-index="${at}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const groups = grouped(
    commands.map((command, index) => ({ command, index })),
    ({ command }) => command.group,
  )
  return (
    <div
      className="palette__list"
      role="listbox"
      id={id}
      aria-label={words.results}
      ref={list}
      tabIndex={-1}
      hidden={commands.length === 0}
    >
      {[...groups].map(([group, members]) => (
        // biome-ignore lint/a11y/useSemanticElements: a listbox has groups, not fieldsets
        <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
          <div className="palette__group" id={`${id}-${group}`}>
            {group}
          </div>
          {members.map(({ command, index }) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
            <div
              key={command.id}
              id={`${id}-${index}`}
              data-index={index}
              className="palette__one"
              role="option"
              tabIndex={-1}
              aria-selected={index === at}
              onClick={() => run(command)}
            >
              <span className="palette__label">{command.label}</span>
              {command.hint && <span className="palette__hint quiet">{command.hint}</span>}
              {command.keys?.split(' ').map((key) => (
                <KeyHint key={key}>{key}</KeyHint>
              ))}
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}
