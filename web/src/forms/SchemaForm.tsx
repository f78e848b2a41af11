import { type FormEvent, type KeyboardEvent, useId, useMemo, useRef, useState } from 'react'
import { visible } from '../parts/visible'
import { useShortcut } from '../shell/shortcuts'
import { FormContext, focusField } from './context'
import { blank, type Draft, draftOf } from './draft'
import { Field, ObjectParts } from './Field'
import { JsonEditor } from './JsonEditor'
import { type Node, nodeOf } from './node'
import { type Fault, type Reading, read, readJson } from './reading'
import type { Schema } from './schema'
import { text } from './text'
import { useKept } from './useKept'

interface Props {
  readonly schema: Schema
  /** Under which name what is written is kept. */
  readonly keep: string
  readonly disabled: boolean
  /** Whether a key leads into it. */
  readonly keys: boolean
  /** What the server found wrong. */
  readonly refused: ReadonlyArray<Fault>
  readonly onSend: (value: unknown) => void
  /** Told with every change. */
  readonly onChange: () => void
}

/** What is written so far: in the fields, or as JSON in place of them. */
interface Written {
  readonly draft: Draft
  readonly json: string | null
}

/** A form for whatever a JSON Schema describes, or the JSON itself for those who like that better. */
export function SchemaForm(props: Props) {
  const { schema, keep, disabled, refused, onSend, onChange } = props
  const node = useMemo(() => nodeOf(schema), [schema])
  const [written, setWritten] = useKept<Written>(keep, () => firstOf(node))
  const [isTried, setTried] = useState(false)
  const prefix = useId()
  const form = useRef<HTMLFormElement>(null)
  const reading = readWhole(node, written)
  const faults = isTried ? [...reading.faults, ...refused] : refused
  const change = (next: Written) => {
    setWritten(next)
    onChange()
  }
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (disabled) return
    setTried(true)
    const [first] = reading.faults
    if (first) focusField(prefix, first.at)
    else onSend(reading.value)
  }
  return (
    <FormContext.Provider value={{ prefix, faults }}>
      <form
        ref={form}
        className="schemaform"
        aria-label={text.form}
        noValidate
        onSubmit={send}
        onKeyDown={sendOnCtrlEnter}
      >
        <Summary faults={faults} refused={refused} />
        {written.json === null ? (
          <Fields node={node} written={written} onChange={change} />
        ) : (
          <JsonEditor
            json={written.json}
            schema={schema}
            onChange={(json) => change({ ...written, json })}
          />
        )}
        <div className="row">
          <button type="submit" className="button button--lamp button--large" disabled={disabled}>
            {text.send}
          </button>
          <Switch {...{ node, written, reading, change }} />
          <span className="field__hint">{text.sendKeys}</span>
        </div>
        {props.keys && <Enter form={form} />}
      </form>
    </FormContext.Provider>
  )
}

/** Where no field would do there is only the JSON. */
function firstOf(node: Node): Written {
  const draft = blank(node)
  return { draft, json: node.kind === 'json' ? String(draft) : null }
}

function readWhole(node: Node, { draft, json }: Written): Reading {
  if (json === null) return read(node, draft)
  const found = readJson(json)
  if (found.value !== undefined || found.faults.length > 0) return found
  return { value: undefined, faults: [{ at: '', message: text.missingJson }] }
}

function sendOnCtrlEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.requestSubmit()
}

interface FieldsProps {
  readonly node: Node
  readonly written: Written
  readonly onChange: (written: Written) => void
}

function Fields({ node, written, onChange }: FieldsProps) {
  const put = (draft: Draft) => onChange({ ...written, draft })
  if (node.kind === 'object') {
    return <ObjectParts node={node} at="" draft={written.draft} onChange={put} />
  }
  return <Field node={node} name="decision" at="" required draft={written.draft} onChange={put} />
}

/** What is wrong with the whole; each field says what is wrong with itself. */
function Summary(props: {
  readonly faults: ReadonlyArray<Fault>
  readonly refused: Props['refused']
}) {
  const { faults, refused } = props
  if (faults.length === 0) return null
  const whole = [...refused, ...faults.filter((one) => one.at === '')]
  const told = [...new Set(whole.map((one) => one.message))]
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{text.faults(faults.length)}</strong> {told.map(visible).join(' ')}
      </p>
    </div>
  )
}

interface SwitchProps {
  readonly node: Node
  readonly written: Written
  readonly reading: Reading
  readonly change: (written: Written) => void
}

/** From the fields to the JSON, and back if the fields can show what it says. */
function Switch({ node, written, reading, change }: SwitchProps) {
  if (node.kind === 'json') return null
  if (written.json === null) {
    const json = JSON.stringify(reading.value ?? {}, null, 2)
    return (
      <button
        type="button"
        className="button button--plain"
        onClick={() => change({ ...written, json })}
      >
        {text.toJson}
      </button>
    )
  }
  const draft = draftOf(node, reading.value)
  const isShowable = reading.faults.length === 0 && isSame(read(node, draft).value, reading.value)
  return (
    <button
      type="button"
      className="button button--plain"
      disabled={!isShowable}
      title={isShowable ? undefined : text.notShowable}
      onClick={() => change({ draft, json: null })}
    >
      {text.toForm}
    </button>
  )
}

function isSame(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other)
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

function Enter({ form }: { readonly form: { readonly current: HTMLFormElement | null } }) {
  useShortcut(text.shortcuts, 'e', text.fillIn, () => {
    form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus()
  })
  return null
}
