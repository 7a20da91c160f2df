import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, Checkbox, labelsOf, Name, Select } from './controls.tsx'
import { dimensions, type FilteredDimension, filteredDimensions } from './dimensions.ts'
import { formatFilter, parseFilter } from './filterText.ts'
import { useGet } from './request.ts'
import { type PanelProps, selectionOf } from './view.ts'

/** Values that are offered at once. */
const suggestionsMax = 50

/** A button that opens the form. */
export function AddFilter(props: PanelProps) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <FilterForm {...props} onClose={() => setOpen(false)} />
  return <Button onClick={() => setOpen(true)}>Add filter</Button>
}

/** Selects values of a dimension by their names among the values that occur in the range, or any other value. */
function FilterForm({ view, onChange, onClose }: PanelProps & { onClose: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [dimension, setDimension] = useState<FilteredDimension>('country')
  const name = dimensions[dimension].filter
  const [{ values: chosen, isExcluded }, setFilter] = useState(() => currentFilter(view.filters.country))
  const [text, setText] = useState('')
  useLayoutEffect(() => form.current?.querySelector('select')?.focus(), [])
  // The values that occur in the range with the other filters. Values with more clicks come first.
  const { [name]: _own, ...selection } = selectionOf(view)
  const query = { group_by: [dimension], ...selection, metrics: ['clicks' as const] }
  const values = useGet('/reports', query, ['read:reports']).data?.data ?? []
  const found = values.filter((row) => !chosen.includes(row.id) && matches(row, text)).slice(0, suggestionsMax)
  const offered = [...chosen.map((id) => values.find((row) => row.id === id) ?? { id, name: id }), ...found]

  function toggle(id: string) {
    const others = chosen.filter((other) => other !== id)
    setFilter({ values: others.length < chosen.length ? others : [...others, id], isExcluded })
  }
  function apply() {
    const typed = text.trim()
    const named = values.find((row) => [row.id, row.name].some((known) => known?.toLowerCase() === typed.toLowerCase()))
    // The text may be what found the values that are checked.
    const isSearch = chosen.length > 0 && values.some((row) => matches(row, typed))
    const all = !named && isSearch ? chosen : [...new Set([...chosen, named?.id ?? typed])]
    const { [name]: _before, ...others } = view.filters
    onChange({ filters: { ...others, [name]: formatFilter({ values: all, isExcluded }) } })
    onClose()
  }
  return (
    <form
      class="controls"
      ref={form}
      aria-label="Add a filter"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Select
        label="Dimension"
        options={labelsOf(filteredDimensions, dimensions)}
        value={dimension}
        onChoose={(chosenDimension) => {
          const { filter } = dimensions[chosenDimension]
          setDimension(chosenDimension)
          setFilter(currentFilter(view.filters[filter]))
          setText('')
        }}
      />
      <Select
        label="Condition"
        options={{ is: 'is', not: 'is not' }}
        value={isExcluded ? 'not' : 'is'}
        onChoose={(condition) => setFilter({ values: chosen, isExcluded: condition === 'not' })}
      />
      <input
        aria-label="Value"
        type="search"
        placeholder="Search, or type a value"
        required={chosen.length === 0}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="primary">
        Apply
      </button>
      <Button onClick={onClose}>Cancel</Button>
      <ul class="values choices" aria-label="Values in the range">
        {offered.map((row) => (
          <li key={row.id}>
            <Checkbox checked={chosen.includes(row.id)} onCheck={() => toggle(row.id)}>
              <Name text={row.name ?? row.id} />
            </Checkbox>
          </li>
        ))}
      </ul>
    </form>
  )
}

const currentFilter = (text: string | undefined) =>
  text === undefined ? { values: [], isExcluded: false } : parseFilter(text)

function matches({ id, name }: { id: string; name: string | null }, text: string): boolean {
  const part = text.trim().toLowerCase()
  return id.toLowerCase().includes(part) || (name ?? '').toLowerCase().includes(part)
}
