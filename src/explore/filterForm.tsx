import { useState } from 'preact/hooks'
import { Button, Checkbox, focus, labelsOf, Name, Problem, Select } from './controls.tsx'
import {
  dimensions,
  type FilteredDimension,
  type FilterName,
  filteredDimensions,
  type ValueForm,
} from './dimensions.ts'
import { hasText, parseFilter, readForm } from './filterText.ts'
import { useGet } from './request.ts'
import { type PanelProps, selectionOf, type View } from './view.ts'

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
  const [filled, setFilled] = useState(() => formOf('country', view))
  const { dimension, text, values: chosen, isExcluded, problem } = filled
  const { filter: name, form }: { filter: FilterName; form?: ValueForm } = dimensions[dimension]
  const change = (part: Partial<typeof filled>) => setFilled({ ...filled, problem: '', ...part })
  // The values that occur in the range with the other filters. Values with more clicks come first.
  const { [name]: _own, ...selection } = selectionOf(view)
  const query = { group_by: [dimension], ...selection, metrics: ['clicks' as const] }
  const report = useGet('/reports', query, ['read:reports'])
  const listed = report.phase === 'ready' ? report.data.data : []
  const found = listed.filter((row) => !chosen.includes(row.id) && hasText(row, text)).slice(0, suggestionsMax)
  const offered = [...chosen.map((id) => listed.find((row) => row.id === id) ?? { id, name: id }), ...found]

  function toggle(id: string) {
    const others = chosen.filter((other) => other !== id)
    change({ values: others.length < chosen.length ? others : [...others, id] })
  }
  function apply() {
    const read = readForm({ ...filled, listed, form })
    if (read.filter === undefined) return change(read)
    const { [name]: _before, ...others } = view.filters
    onChange({ filters: { ...others, [name]: read.filter } })
    onClose()
  }
  return (
    <form
      class="controls"
      aria-label="Add a filter"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <Select
        label="Dimension"
        ref={focus}
        options={labelsOf(filteredDimensions, dimensions)}
        value={dimension}
        onChoose={(other) => setFilled(formOf(other, view))}
      />
      <Select
        label="Condition"
        options={{ is: 'is', not: 'is not' }}
        value={isExcluded ? 'not' : 'is'}
        onChoose={(condition) => change({ isExcluded: condition === 'not' })}
      />
      <input
        aria-label="Value"
        type="search"
        placeholder="Search, or type a value"
        size={24}
        required={chosen.length === 0}
        value={text}
        onInput={({ currentTarget }) => change({ text: currentTarget.value })}
      />
      <button type="submit" class="primary">
        Apply
      </button>
      <Button onClick={onClose}>Cancel</Button>
      <Problem text={problem} />
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

/** The form of a dimension: it begins with the filter that the view has. */
function formOf(dimension: FilteredDimension, { filters }: View) {
  const filter = filters[dimensions[dimension].filter]
  return { dimension, text: '', problem: '', ...(filter ? parseFilter(filter) : { values: [], isExcluded: false }) }
}
