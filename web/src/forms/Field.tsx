import { useContext } from 'react'
import { escapeStep } from '../parts/json'
import {
  ChoiceField,
  type FieldProps,
  FixedField,
  FlagField,
  JsonField,
  NumberField,
  PicksField,
  TextField,
} from './Controls'
import { FormContext, focusField } from './context'
import { blank, type Draft, type Items, type Members, type Variant } from './draft'
import { Grouped, titleOf } from './Labels'
import type { NodeOf } from './node'
import { text } from './text'

/** The field for a part of a form, with all that is inside it. */
export function Field(props: FieldProps) {
  const { node } = props
  switch (node.kind) {
    case 'text':
      return <TextField {...props} node={node} />
    case 'number':
      return <NumberField {...props} node={node} />
    case 'flag':
      return <FlagField {...props} node={node} />
    case 'choice':
      return <ChoiceField {...props} node={node} />
    case 'picks':
      return <PicksField {...props} node={node} />
    case 'fixed':
      return <FixedField {...props} node={node} />
    case 'json':
      return <JsonField {...props} node={node} />
    case 'object':
      return <ObjectField {...props} node={node} />
    case 'list':
      return <ListField {...props} node={node} />
    case 'variants':
      return <VariantsField {...props} node={node} />
  }
}

type PartsProps = Pick<FieldProps<NodeOf<'object'>>, 'node' | 'at' | 'draft' | 'onChange'>

/** The members of an object, one below the other. */
export function ObjectParts({ node, at, draft, onChange }: PartsProps) {
  const members = draft as Members
  return node.members.map((member) => (
    <Field
      key={member.name}
      node={member.node}
      name={member.name}
      at={`${at}/${escapeStep(member.name)}`}
      required={member.required}
      draft={members.of[member.name] ?? null}
      onChange={(one) => onChange({ ...members, of: { ...members.of, [member.name]: one } })}
    />
  ))
}

function ObjectField(props: FieldProps<NodeOf<'object'>>) {
  const { node, name, required, onChange } = props
  const members = props.draft as Members
  const mayBeLeftOut = !required || node.nullable
  return (
    <Grouped {...props} className="formgroup--nested" hasParts>
      {mayBeLeftOut && (
        <label className="formgive">
          <input
            type="checkbox"
            checked={members.isGiven}
            onChange={(event) => onChange({ ...members, isGiven: event.target.checked })}
          />
          {text.give(titleOf(node, name).toLowerCase())}
        </label>
      )}
      {members.isGiven && <ObjectParts {...props} />}
    </Grouped>
  )
}

function ListField(props: FieldProps<NodeOf<'list'>>) {
  const { node, name, at, onChange } = props
  const { prefix } = useContext(FormContext)
  const list = props.draft as Items
  const title = titleOf(node, name)
  const add = () => {
    const item = { key: list.next, of: blank(node.item) }
    onChange({ next: list.next + 1, items: [...list.items, item] })
    // When it is there.
    requestAnimationFrame(() => focusField(prefix, `${at}/${list.items.length}`))
  }
  const put = (key: number, of: Draft) =>
    onChange({ ...list, items: list.items.map((one) => (one.key === key ? { key, of } : one)) })
  const remove = (key: number) => {
    onChange({ ...list, items: list.items.filter((one) => one.key !== key) })
    requestAnimationFrame(() => focusField(prefix, `${at}/+`))
  }
  return (
    <Grouped {...props} className="formgroup--nested" hasParts>
      {list.items.length > 0 && (
        <ol className="formlist">
          {list.items.map(({ key, of }, index) => (
            <li key={key}>
              <div className="grow">
                <Field
                  node={{ ...node.item, title: `${node.item.title || title} ${index + 1}` }}
                  name={name}
                  at={`${at}/${index}`}
                  required
                  draft={of}
                  onChange={(one) => put(key, one)}
                />
              </div>
              <button
                type="button"
                className="button button--plain"
                aria-label={text.removeItem(title, index + 1)}
                onClick={() => remove(key)}
              >
                {text.remove}
              </button>
            </li>
          ))}
        </ol>
      )}
      <AddButton at={at} title={title} disabled={list.items.length >= node.most} onAdd={add} />
    </Grouped>
  )
}

interface AddProps {
  readonly at: string
  readonly title: string
  readonly disabled: boolean
  readonly onAdd: () => void
}

function AddButton({ at, title, disabled, onAdd }: AddProps) {
  const { prefix } = useContext(FormContext)
  return (
    <div>
      <button
        type="button"
        id={`${prefix}${encodeURIComponent(`${at}/+`)}`}
        className="button"
        disabled={disabled}
        aria-label={text.addTo(title)}
        onClick={onAdd}
      >
        {text.add}
      </button>
    </div>
  )
}

function VariantsField(props: FieldProps<NodeOf<'variants'>>) {
  const { node, name, at, required, onChange } = props
  const { at: place, of } = props.draft as Variant
  const chosen = node.variants[place]
  const { prefix } = useContext(FormContext)
  const choose = (next: number) => {
    const variant = node.variants[next]
    if (variant) onChange({ at: next, of: blank(variant) })
  }
  return (
    <Grouped {...props} className="formgroup--nested" hasParts>
      <div className="formoptions formoptions--inline">
        {node.variants.map((one, index) => (
          <label key={one.title} className="asking__option">
            <input
              type="radio"
              name={`${prefix}${at}|`}
              checked={index === place}
              onChange={() => choose(index)}
            />
            <span className="grow">{one.title}</span>
          </label>
        ))}
      </div>
      {chosen?.kind === 'object' ? (
        <ObjectParts
          node={chosen}
          at={at}
          draft={of}
          onChange={(one) => onChange({ at: place, of: one })}
        />
      ) : (
        chosen && (
          <Field
            {...{ name, at, required }}
            node={chosen}
            draft={of}
            onChange={(one) => onChange({ at: place, of: one })}
          />
        )
      )}
    </Grouped>
  )
}
