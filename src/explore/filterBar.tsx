import { Button, Problem } from './controls.tsx'
import { dimensions, type FilterName, filterDimensions } from './dimensions.ts'
import { AddFilter } from './filterForm.tsx'
import { formatFilter, notSet, parseFilter } from './filterText.ts'
import { formatValue } from './format.ts'
import { useGet, valueNames } from './request.ts'
import { type PanelProps, selectionOf, type View } from './view.ts'

/**
 * The filters in the order in which they were added: a path that leads back to each of them, with a form that adds one.
 * @param problem why the API rejected a filter; empty if it did not
 */
export function FilterBar({ view, onChange, problem }: PanelProps & { problem: string }) {
  const { filters } = view
  const names = Object.keys(filters) as FilterName[]
  /** Keeps the first filters, and groups by the dimension of the next one. */
  function backTo(count: number) {
    const kept = Object.fromEntries(names.slice(0, count).map((name) => [name, filters[name]]))
    const next = names[count]
    onChange({ filters: kept, ...(next && { groupBy: [filterDimensions[next]] }) })
  }
  function remove(name: FilterName) {
    const { [name]: _removed, ...rest } = filters
    onChange({ filters: rest })
  }
  return (
    <section class="chips controls" aria-label="Filters" tabIndex={-1}>
      {names.length > 0 && <Button onClick={() => backTo(0)}>All</Button>}
      {names.map((name, index) => (
        <Chip
          key={`${name} ${filters[name]}`}
          view={view}
          name={name}
          onBack={index < names.length - 1 ? () => backTo(index + 1) : undefined}
          onRemove={() => remove(name)}
        />
      ))}
      <AddFilter view={view} onChange={onChange} />
      <Problem text={problem} />
    </section>
  )
}

/** Dimensions with values that have names; the address has their ids. */
const namedDimensions = ['campaign', 'offer', 'landing', 'traffic_source', 'country']

interface ChipProps {
  view: View
  name: FilterName
  /** Absent for the last filter. */
  onBack: (() => void) | undefined
  onRemove: () => void
}

function Chip({ view, name, onBack, onRemove }: ChipProps) {
  const dimension = filterDimensions[name]
  const { values, isExcluded } = parseFilter(view.filters[name] ?? '')
  const rows = { days: 365, [name]: formatFilter({ values, isExcluded: false }), limit: 100 }
  const names = values.map((value) => valueNames.get(`${dimension} ${value}`))
  const isUnknown = namedDimensions.includes(dimension) && names.includes(undefined)
  useGet('/reports', isUnknown ? { group_by: [dimension], ...rows, metrics: ['clicks'] } : undefined, ['read:reports'])
  const shown = values.map((value, at) => names[at] ?? value).join(', ')
  const label = dimensions[dimension].label
  // Costs often have no country and no device, so a filter leaves them out.
  const isPartial = !isExcluded && !values.includes(notSet)
  const without = { ...selectionOf(view), [name]: notSet }
  const { data } = useGet('/stats/overview', isPartial ? without : undefined, ['read:stats'])
  const costWithout = isPartial ? data?.totals.cost : undefined
  return (
    <>
      <span aria-hidden="true">›</span>
      <span class="chip" title={`${label}: ${shown}`}>
        <Button class="back" onClick={onBack}>
          <span class="hint">
            {label}
            {isExcluded ? ' is not' : ''}:
          </span>{' '}
          <bdi class="name">{shown}</bdi>
        </Button>
        <Button onClick={onRemove} aria-label={`Remove the filter ${label}: ${shown.slice(0, 100)}`}>
          ×
        </Button>
      </span>
      {data && costWithout !== 0 && costWithout !== undefined && (
        <span class="hint">
          Cost without {label.toLowerCase()}: {formatValue(costWithout, 'amount', data.currency)}
        </span>
      )}
    </>
  )
}
