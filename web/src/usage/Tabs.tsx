interface Props<T extends string | number> {
  readonly title: string
  readonly options: ReadonlyArray<readonly [T, string]>
  readonly chosen: T
  readonly onChoose: (option: T) => void
}

/** A few options next to each other, of which one is chosen. */
export function Tabs<T extends string | number>({ title, options, chosen, onChoose }: Props<T>) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out like this
    <div className="tabs usage__tabs" role="group" aria-label={title}>
      {options.map(([option, label]) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === chosen}
          onClick={() => onChoose(option)}
        >
          {label}
        </button>
      ))}
    </div>
  )
}
