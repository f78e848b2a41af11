import type { KeyboardEvent } from 'react'
import { visible } from '../parts/visible'
import { useField } from './context'
import type { Draft } from './draft'
import { describedBy, Grouped, Labelled } from './Labels'
import type { Node, NodeOf, Option } from './node'
import { text } from './text'

/** What every field is given. */
export interface FieldProps<N extends Node = Node> {
  readonly node: N
  /** Its name in the object that it belongs to. */
  readonly name: string
  /** Where it stands: a JSON Pointer. */
  readonly at: string
  readonly required: boolean
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

/** Esc leaves a field, so that the keys of the page work again. */
export function leave(event: KeyboardEvent<HTMLElement>): void {
  if (event.key === 'Escape') event.currentTarget.blur()
}

function useControl(props: FieldProps<Node>) {
  const { id, fault, hintId, faultId } = useField(props.at)
  return {
    id,
    className: 'input',
    'aria-required': props.required,
    'aria-invalid': fault !== null,
    'aria-describedby': describedBy(props.node.hint && hintId, fault && faultId),
    onKeyDown: leave,
  }
}

export function TextField(props: FieldProps<NodeOf<'text'>>) {
  const { node, draft, onChange } = props
  const control = useControl(props)
  const value = draft as string
  return (
    <Labelled {...props}>
      {node.isLong ? (
        <textarea
          {...control}
          rows={2}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...control}
          type={node.input}
          value={value}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Labelled>
  )
}

export function NumberField(props: FieldProps<NodeOf<'number'>>) {
  const { draft, onChange } = props
  return (
    <Labelled {...props}>
      <input
        {...useControl(props)}
        className="input input--number"
        inputMode="decimal"
        autoComplete="off"
        value={draft as string}
        onChange={(event) => onChange(event.target.value)}
      />
    </Labelled>
  )
}

export function JsonField(props: FieldProps<NodeOf<'json'>>) {
  const { draft, onChange } = props
  return (
    <Labelled {...props}>
      <textarea
        {...useControl(props)}
        className="input input--code"
        rows={4}
        spellCheck={false}
        placeholder={text.asJson}
        value={draft as string}
        onChange={(event) => onChange(event.target.value)}
      />
    </Labelled>
  )
}

const YES_NO: ReadonlyArray<Option> = [
  { label: 'Yes', hint: '', value: true },
  { label: 'No', hint: '', value: false },
]

/** Neither is chosen at first: what was not said is not a no. */
export function FlagField(props: FieldProps<NodeOf<'flag'>>) {
  const { draft, onChange } = props
  const required = hasToBeGiven(props)
  const at = draft === null ? null : Number(!draft)
  return (
    <Grouped {...props}>
      <Radios
        {...{ required, at: props.at }}
        options={YES_NO}
        chosen={at}
        onChoose={(place) => onChange(place === null ? null : place === 0)}
        inline
      />
    </Grouped>
  )
}

/** Whether one has to be chosen. What is left out would be the default, which can be chosen. */
function hasToBeGiven({ node, required }: FieldProps<Node>): boolean {
  return !node.nullable && (required || node.initial !== undefined)
}

const MOST_RADIOS = 6

export function ChoiceField(props: FieldProps<NodeOf<'choice'>>) {
  const { node, draft, onChange } = props
  const required = hasToBeGiven(props)
  if (node.options.length > MOST_RADIOS) return <SelectField {...props} />
  return (
    <Grouped {...props}>
      <Radios
        {...{ required, at: props.at }}
        options={node.options}
        chosen={draft as number | null}
        onChoose={onChange}
        inline={node.options.every((one) => one.label.length <= 16 && !one.hint)}
      />
    </Grouped>
  )
}

function SelectField(props: FieldProps<NodeOf<'choice'>>) {
  const { node, draft, onChange } = props
  return (
    <Labelled {...props}>
      <select
        {...useControl(props)}
        value={draft === null ? '' : String(draft)}
        onChange={(event) => onChange(event.target.value === '' ? null : +event.target.value)}
      >
        <option value="">{hasToBeGiven(props) ? text.choose : text.none}</option>
        {node.options.map((one, place) => (
          <option key={JSON.stringify(one.value) ?? ''} value={place}>
            {visible(one.label)}
          </option>
        ))}
      </select>
    </Labelled>
  )
}

interface RadiosProps {
  readonly at: string
  readonly required: boolean
  readonly options: ReadonlyArray<Option>
  readonly chosen: number | null
  readonly onChoose: (place: number | null) => void
  readonly inline: boolean
}

function Radios({ at, required, options, chosen, onChoose, inline }: RadiosProps) {
  const { id } = useField(at)
  const none: Option = { label: 'None', hint: '', value: undefined }
  const all = required ? options : [...options, none]
  return (
    <div className={inline ? 'formoptions formoptions--inline' : 'formoptions'}>
      {all.map((one, place) => (
        <label key={JSON.stringify(one.value) ?? ''} className="asking__option">
          <input
            type="radio"
            name={id}
            checked={one === none ? chosen === null : chosen === place}
            onChange={() => onChoose(one === none ? null : place)}
          />
          <Words option={one} />
        </label>
      ))}
    </div>
  )
}

export function PicksField(props: FieldProps<NodeOf<'picks'>>) {
  const { node, draft, onChange } = props
  const picked = draft as ReadonlyArray<number>
  const toggle = (place: number) =>
    onChange(picked.includes(place) ? picked.filter((one) => one !== place) : [...picked, place])
  return (
    <Grouped {...props}>
      <div className="formoptions formoptions--inline">
        {node.options.map((one, place) => (
          <label key={JSON.stringify(one.value) ?? ''} className="asking__option">
            <input
              type="checkbox"
              checked={picked.includes(place)}
              onChange={() => toggle(place)}
            />
            <Words option={one} />
          </label>
        ))}
      </div>
    </Grouped>
  )
}

function Words({ option }: { readonly option: Option }) {
  return (
    <span className="grow">
      <span>{visible(option.label)}</span>
      {option.hint && <span className="quiet">{visible(option.hint)}</span>}
    </span>
  )
}

export function FixedField({ node, name }: FieldProps<NodeOf<'fixed'>>) {
  return (
    <p className="field__hint">
      {`${node.title || name}: `}
      <code>{visible(JSON.stringify(node.value))}</code>
    </p>
  )
}
