import { useEffect, useRef, useState } from 'preact/hooks'
import { optionsOf, Select } from './controls.tsx'
import { dimensions, type FilterName, filterDimensions, filterNames } from './dimensions.ts'
import { formatFilter, parseFilter } from './filterText.ts'
import { useGet } from './request.ts'
import type { PanelProps, View } from './view.ts'

/** The active filters, each with a button that removes it, and a form that adds one. */
export function Chips({ view, onChange }: PanelProps) {
  const { filters } = view
  const section = useRef<HTMLElement>(null)
  const names = filterNames.filter((name) => filters[name] !== undefined)
  const keep = (rest: View['filters']) => {
    onChange({ filters: rest })
    // The button that had the focus is removed.
    section.current?.focus()
  }
  const remove = (name: FilterName) => {
    const { [name]: _removed, ...rest } = filters
    keep(rest)
  }
  return (
    <section class="chips" aria-label="Filters" ref={section} tabIndex={-1}>
      {names.length === 0 && <span class="hint">No filter. Select a row of the drill-down table, or add one:</span>}
      {names.map((name) => (
        <Chip key={`${name} ${filters[name]}`} name={name} text={filters[name] ?? ''} onRemove={() => remove(name)} />
      ))}
      {names.length > 1 && (
        <button type="button" onClick={() => keep({})}>
          Remove all
        </button>
      )}
      <AddFilter view={view} onChange={onChange} />
    </section>
  )
}

/** Dimensions with values that have names; the address has their ids. */
const namedDimensions = ['campaign', 'offer', 'landing', 'traffic_source', 'country']

function Chip({ name, text, onRemove }: { name: FilterName; text: string; onRemove: () => void }) {
  const dimension = filterDimensions[name]
  const { values, isExcluded } = parseFilter(text)
  const rows = {
    days: 365,
    [name]: formatFilter({ values, isExcluded: false }),
    metrics: ['clicks' as const],
    limit: 100,
  }
  const query = namedDimensions.includes(dimension) ? { group_by: [dimension], ...rows } : undefined
  const report = useGet('/reports', query, ['read:reports'])
  const known = new Map(report.data?.data.map((row) => [row.id, row.name]))
  const shown = values.map((value) => known.get(value) ?? value).join(', ')
  const label = dimensions[dimension].label
  return (
    <span class="chip" title={`${label}: ${shown}`}>
      <span class="chip-label">
        {label}
        {isExcluded ? ' is not' : ''}:
      </span>
      <bdi class="name">{shown}</bdi>
      <button type="button" onClick={onRemove} aria-label={`Remove the filter ${label}: ${shown.slice(0, 100)}`}>
        ×
      </button>
    </span>
  )
}

function AddFilter({ view, onChange }: PanelProps) {
  // Undefined: it was not opened yet.
  const [isOpen, setOpen] = useState<boolean>()
  const opener = useRef<HTMLButtonElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const [name, setName] = useState<FilterName>('country')
  const [isExcluded, setExcluded] = useState(false)
  const [value, setValue] = useState('')
  // The button and the form replace each other: the focus moves along.
  useEffect(() => {
    if (isOpen === false) opener.current?.focus()
    form.current?.querySelector('select')?.focus()
  }, [isOpen])
  if (!isOpen) {
    return (
      <button type="button" ref={opener} onClick={() => setOpen(true)}>
        Add filter
      </button>
    )
  }
  return (
    <form
      class="add-filter"
      ref={form}
      aria-label="Add a filter"
      onSubmit={(event) => {
        event.preventDefault()
        onChange({ filters: { ...view.filters, [name]: formatFilter({ values: [value], isExcluded }) } })
        setOpen(false)
        setValue('')
      }}
    >
      <Select
        aria-label="Dimension"
        options={filterNames.map((filter) => [filter, dimensions[filterDimensions[filter]].label])}
        value={name}
        onChoose={setName}
      />
      <Select
        aria-label="Condition"
        options={optionsOf({ is: 'is', not: 'is not' })}
        value={isExcluded ? 'not' : 'is'}
        onChoose={(condition) => setExcluded(condition === 'not')}
      />
      <input
        aria-label="Value"
        required
        placeholder={name === 'country' ? 'US' : name.endsWith('_id') ? 'id' : '(not set)'}
        value={value}
        onInput={({ currentTarget }) => setValue(currentTarget.value)}
      />
      <button type="submit" class="primary">
        Apply
      </button>
      <button type="button" onClick={() => setOpen(false)}>
        Cancel
      </button>
    </form>
  )
}
