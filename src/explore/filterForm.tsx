import { useState } from 'preact/hooks'
import { Button, Checkbox, focus, labelsOf, Name, Select } from './controls.tsx'
import { dimensions, type FilteredDimension, filteredDimensions, namedDimensions } from './dimensions.ts'
import {
  hasText,
  isListed,
  metricOperators,
  type Operator,
  operatorText,
  valueOperators,
  valuesOf,
  withCondition,
} from './filterText.ts'
import { columnNames, metrics, type SelectedMetric } from './metrics.ts'
import { useGet, useSession } from './request.ts'
import { type PanelProps, selectionOf, type View } from './view.ts'

/** Values that are offered at once. */
const suggestionsMax = 50

/** A button that opens the form. */
export function AddFilter(props: PanelProps) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <FilterForm {...props} onClose={() => setOpen(false)} />
  return <Button onClick={() => setOpen(true)}>Add filter</Button>
}

/** `by`: the dimension, or the metric of the rows of the table. */
type FilledForm = {
  by: FilteredDimension | SelectedMetric
  operator: Operator
  text: string
  values: readonly string[]
}

const isMetric = (name: string): name is SelectedMetric => name in metrics

/**
 * Selects values of a dimension by their names among the values that occur in the range, or any other value; values with a text; or
 * rows of the table by a metric.
 */
function FilterForm({ view, onChange, onClose }: PanelProps & { onClose: () => void }) {
  const [filled, setFilled] = useState(() => formOf('country', view))
  const { by, operator, text, values: chosen } = filled
  const { hidden = [] } = useSession().key
  const visible = columnNames.filter((name) => !hidden.includes(name))
  const change = (part: Partial<FilledForm>) => setFilled({ ...filled, ...part })
  const dimension = isMetric(by) ? undefined : by
  const operators: readonly Operator[] = dimension ? valueOperators : metricOperators
  const listedOf = operator === 'is' || operator === 'is_not' ? dimension : undefined
  // The values that occur in the range with the other filters. Values with more clicks come first.
  const { [listedOf ? dimensions[listedOf].filter : 'country']: _own, ...selection } = selectionOf(view)
  const query = listedOf && { group_by: [listedOf], ...selection, metrics: ['clicks' as const] }
  const report = useGet('/reports', query)
  const listed = query && report.phase === 'ready' ? report.data.data : []
  const found = listed.filter((row) => !chosen.includes(row.id) && hasText(row, text)).slice(0, suggestionsMax)
  const offered = [...chosen.map((id) => listed.find((row) => row.id === id) ?? { id, name: id }), ...found]

  function toggle(id: string) {
    change({ values: chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id] })
  }
  function apply(event: Event) {
    event.preventDefault()
    const isNamed = listedOf !== undefined && namedDimensions.includes(listedOf)
    const values = listedOf ? valuesOf({ text, values: chosen, listed, isNamed }) : [text.trim()]
    const condition = dimension
      ? ([operator, dimensions[dimension].filter, values] as const)
      : ([operator, by, Number(text)] as const)
    onChange({ filters: withCondition(view.filters, condition) })
    onClose()
  }
  return (
    <form
      class="controls"
      aria-label="Add a filter"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
      onSubmit={apply}
    >
      <Select
        label="Dimension"
        ref={focus}
        options={{ ...labelsOf(filteredDimensions, dimensions), ...labelsOf(visible, metrics) }}
        value={by}
        onChoose={(other) => setFilled(formOf(other, view))}
      />
      <Select
        label="Condition"
        options={Object.fromEntries(operators.map((name) => [name, operatorText(name)]))}
        value={operator}
        onChoose={(other) => change({ operator: other as Operator })}
      />
      <input
        aria-label="Value"
        type="search"
        placeholder={listedOf ? 'Search, or type a value' : dimension ? 'A part of the value' : 'A number such as 12.5'}
        pattern={dimension ? '.*\\S.*' : '-?[0-9]+([.][0-9]+)?'}
        size={24}
        required={!listedOf || chosen.length === 0}
        value={text}
        onInput={({ currentTarget }) => change({ text: currentTarget.value })}
      />
      <span>
        <button type="submit" class="primary">
          Apply
        </button>{' '}
        <Button onClick={onClose}>Cancel</Button>
      </span>
      {listedOf && (
        <ul class="choices" aria-label="Values in the range">
          {offered.map((row) => (
            <li key={row.id}>
              <Checkbox checked={chosen.includes(row.id)} onCheck={() => toggle(row.id)}>
                <Name text={row.name ?? row.id} />
              </Checkbox>
            </li>
          ))}
        </ul>
      )}
    </form>
  )
}

/** The form of a dimension, which begins with the filter that the view has, or of a metric. */
function formOf(by: FilledForm['by'], { filters }: View): FilledForm {
  if (isMetric(by)) return { by, operator: '>=', text: '', values: [] }
  const own = filters.filter(isListed).find(([, name]) => name === dimensions[by].filter)
  const [operator, , values] = own ?? (['is', '', []] as const)
  return { by, operator, text: '', values }
}
