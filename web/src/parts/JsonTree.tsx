import { useVirtualizer } from '@tanstack/react-virtual'
import { useMemo, useRef, useState } from 'react'
import { isBranch, members, size } from './json'
import { type Row, rowsOf } from './rows'
import { text } from './text'
import { visible } from './visible'

interface Props {
  readonly value: unknown
  readonly label: string
  readonly height?: number
}

const LONGEST = 2000

/** A value of any size as a tree. Only what is seen is drawn, and only what is open is walked. */
export function JsonTree({ value, label, height = 420 }: Props) {
  const [open, setOpen] = useState<ReadonlySet<string>>(() => firstOpen(value))
  const rows = useMemo(() => rowsOf(value, open), [value, open])
  const ref = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => ref.current,
    estimateSize: () => 22,
    overscan: 12,
  })
  const toggle = (id: string) =>
    setOpen((before) => {
      const after = new Set(before)
      if (!after.delete(id)) after.add(id)
      return after
    })
  return (
    <section
      className="tree"
      ref={ref}
      style={{ maxHeight: height }}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls takes the focus
      tabIndex={0}
    >
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index]
          return row ? (
            <div
              key={row.id}
              ref={virtual.measureElement}
              data-index={item.index}
              style={{
                position: 'absolute',
                top: 0,
                width: '100%',
                transform: `translateY(${item.start}px)`,
              }}
            >
              <TreeRow row={row} onToggle={toggle} />
            </div>
          ) : null
        })}
      </div>
    </section>
  )
}

/** Small values are open from the start: most states fit on the screen. */
function firstOpen(value: unknown): ReadonlySet<string> {
  if (!isBranch(value) || size(value) > 40) return new Set()
  return new Set(
    members(value)
      .filter(([, member]) => isBranch(member) && size(member) <= 12)
      .map(([key]) => `/${key}`),
  )
}

function TreeRow({
  row,
  onToggle,
}: {
  readonly row: Row
  readonly onToggle: (id: string) => void
}) {
  const { id, depth, label, value, open } = row
  return (
    <div className="tree__row" style={{ paddingLeft: depth * 16 }}>
      {open === null ? (
        <span className="tree__toggle" />
      ) : (
        <button
          type="button"
          className="tree__toggle"
          aria-expanded={open}
          aria-label={open ? text.tree.close(label) : text.tree.open(label)}
          onClick={() => onToggle(id)}
        >
          {open ? '▾' : '▸'}
        </button>
      )}
      {label !== '' && (
        <span className="tree__key">{value === undefined ? label : `${visible(label)}:`}</span>
      )}
      <Leaf value={value} />
    </div>
  )
}

function Leaf({ value }: { readonly value: unknown }) {
  const [whole, setWhole] = useState(false)
  if (value === undefined) return null
  if (isBranch(value)) {
    const [left, right] = Array.isArray(value) ? '[]' : '{}'
    return <span className="tree__note">{`${left}${size(value) || ''}${right}`}</span>
  }
  if (typeof value === 'number') return <span className="tree__number">{value}</span>
  if (typeof value !== 'string') return <span className="tree__word">{String(value)}</span>
  const cut = value.length > LONGEST && !whole
  return (
    <span className="tree__string">
      {visible(JSON.stringify(cut ? value.slice(0, LONGEST) : value))}
      {cut && (
        <button type="button" className="button button--plain" onClick={() => setWhole(true)}>
          {text.tree.showAll(value.length)}
        </button>
      )}
    </span>
  )
}
