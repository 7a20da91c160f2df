import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Button, Checkbox, labelsOf, Name, Problem, Select } from './controls.tsx'
import {
  dimensions,
  type FilteredDimension,
  type FilterName,
  filteredDimensions,
  type ValueForm,
} from './dimensions.ts'
import { hasText, parseFilter, readForm } from './filterText.ts'
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
  const { filter: name, form: valueForm }: { filter: FilterName; form?: ValueForm } = dimensions[dimension]
  const [{ values: chosen, isExcluded }, setFilter] = useState(() => currentFilter(view.filters.country))
  const [text, setText] = useState('')
  const [problem, setProblem] = useState('')
  useLayoutEffect(() => form.current?.querySelector('select')?.focus(), [])
  // The values that occur in the range with the other filters. Values with more clicks come first.
  const { [name]: _own, ...selection } = selectionOf(view)
  const query = { group_by: [dimension], ...selection, metrics: ['clicks' as const] }
  const report = useGet('/reports', query, ['read:reports'])
  const values = report.phase === 'ready' ? report.data.data : []
  const found = values.filter((row) => !chosen.includes(row.id) && hasText(row, text)).slice(0, suggestionsMax)
  const offered = [...chosen.map((id) => values.find((row) => row.id === id) ?? { id, name: id }), ...found]

  function toggle(id: string) {
    const others = chosen.filter((other) => other !== id)
    setFilter({ values: others.length < chosen.length ? others : [...others, id], isExcluded })
  }
  function apply() {
    const read = readForm({ text, listed: values, chosen, isExcluded, form: valueForm })
    if ('problem' in read) return setProblem(read.problem)
    const { [name]: _before, ...others } = view.filters
    onChange({ filters: { ...others, [name]: read.filter } })
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
          setProblem('')
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
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setProblem('')
        }}
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

const currentFilter = (text: string | undefined) =>
  text === undefined ? { values: [], isExcluded: false } : parseFilter(text)
