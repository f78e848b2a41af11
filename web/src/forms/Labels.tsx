import type { ReactNode } from 'react'
import { visible } from '../parts/visible'
import { useField } from './context'
import type { Node } from './node'
import { text } from './text'

interface Props {
  readonly node: Node
  readonly name: string
  readonly at: string
  readonly required: boolean
}

/** What a field is called: by its title, or by its name in words. */
export function titleOf(node: Node, name: string): string {
  const words = name.replaceAll('_', ' ')
  return visible(node.title || words.charAt(0).toUpperCase() + words.slice(1))
}

/** A control with its label, its hint, and what is wrong with it. */
export function Labelled({ node, name, at, required, children }: Props & { children: ReactNode }) {
  const { id } = useField(at)
  return (
    <div className="field">
      <label htmlFor={id}>
        {titleOf(node, name)}
        <Optional required={required} />
      </label>
      {children}
      <Notes node={node} at={at} />
    </div>
  )
}

interface GroupProps extends Props {
  readonly children: ReactNode
  readonly className?: string
  readonly hasParts?: boolean
}

/** Controls that belong together, with one name for all of them. */
export function Grouped(props: GroupProps) {
  const { node, name, at, required, children, className = '', hasParts = false } = props
  const { id, fault, hintId, faultId } = useField(at, hasParts)
  return (
    <fieldset
      id={id}
      className={`field formgroup ${className}`}
      aria-describedby={describedBy(node.hint && hintId, fault && faultId)}
    >
      <legend>
        {titleOf(node, name)}
        <Optional required={required} />
      </legend>
      <Notes node={node} at={at} hasParts={hasParts} />
      {children}
    </fieldset>
  )
}

function Optional({ required }: { readonly required: boolean }) {
  return required ? null : <span className="formoptional"> {text.optional}</span>
}

function Notes(props: { readonly node: Node; readonly at: string; readonly hasParts?: boolean }) {
  const { node, at, hasParts = false } = props
  const { fault, hintId, faultId } = useField(at, hasParts)
  return (
    <>
      {node.hint && (
        <span className="field__hint" id={hintId}>
          {visible(node.hint)}
        </span>
      )}
      {fault && (
        <span className="field__fault" id={faultId}>
          {visible(fault)}
        </span>
      )}
    </>
  )
}

/** The ids that are there, as an attribute. */
export function describedBy(...ids: ReadonlyArray<string | null>): string | undefined {
  return ids.filter(Boolean).join(' ') || undefined
}
