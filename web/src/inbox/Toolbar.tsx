import { useMemo, useRef } from 'react'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { useShortcut } from '../shell/shortcuts'
import { choicesOf, isFiltered } from './filters'
import { text } from './text'
import { clearFilters, type Filtering } from './useFilters'

interface Props {
  readonly questions: ReadonlyArray<Interaction>
  readonly filtering: Filtering
}

/** What finds a question among many. */
export function Toolbar({ questions, filtering }: Props) {
  const { filters, grouping, set } = filtering
  const { workflows, types } = useMemo(() => choicesOf(questions), [questions])
  const search = useRef<HTMLInputElement>(null)
  useShortcut(text.shortcuts, '/', text.filters.searchKey, () => search.current?.focus())
  const words = text.filters
  return (
    <search className="filters inbox__filters" aria-label={words.label}>
      <label className="filters__search">
        <span className="hidden">{words.search}</span>
        <input
          ref={search}
          type="search"
          className="input"
          placeholder={words.searchHint}
          value={filters.q}
          onChange={(event) => set.q(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            // The browser would also clear what was typed.
            event.preventDefault()
            event.currentTarget.blur()
          }}
        />
      </label>
      <Choice
        label={words.workflow}
        value={filters.workflow}
        onChange={set.workflow}
        options={[['', words.anyWorkflow], ...named(workflows, filters.workflow)]}
      />
      <Choice
        label={words.type}
        value={filters.type}
        onChange={set.type}
        options={[['', words.anyType], ...named(types, filters.type, text.types)]}
      />
      <Choice
        label={words.assigned}
        value={filters.assigned}
        onChange={set.assigned}
        options={[
          ['', words.anyone],
          ['me', words.me],
          ['none', words.unassigned],
          ...(['', 'me', 'none'].includes(filters.assigned) ? [] : named([], filters.assigned)),
        ]}
      />
      <Choice
        label={words.from}
        value={filters.from}
        onChange={set.from}
        options={[
          ['', words.anything],
          ['agents', words.agents],
          ['workflows', words.workflows],
        ]}
      />
      <Choice
        label={words.group}
        value={grouping}
        onChange={set.group}
        options={[
          ['', words.ungrouped],
          ['workflow', words.byWorkflow],
          ['session', words.bySession],
          ['type', words.byType],
        ]}
      />
      {isFiltered(filters) && (
        <button type="button" className="button button--plain" onClick={clearFilters}>
          {words.clear}
        </button>
      )}
    </search>
  )
}

type Option = readonly [value: string, label: string]

/** Options for values, and for the chosen one, which may be of a question that is gone. */
function named(
  values: ReadonlyArray<string>,
  chosen: string,
  names: Readonly<Record<string, string>> = {},
): Option[] {
  const all = chosen && !values.includes(chosen) ? [...values, chosen] : values
  return all.map((value) => [value, visible(names[value] ?? value)])
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: ReadonlyArray<Option>
  readonly onChange: (value: string | null) => void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      <span className="hidden">{label}</span>
      <select
        className={value ? 'input is-set' : 'input'}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      >
        {options.map(([one, name]) => (
          <option key={one} value={one}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
