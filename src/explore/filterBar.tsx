import { Button, Problem } from './controls.tsx'
import { dimensions, filterDimensions, namedDimensions } from './dimensions.ts'
import { AddFilter } from './filterForm.tsx'
import {
  type Condition,
  conditionText,
  filterParameters,
  isListed,
  notSet,
  operatorText,
  withCondition,
} from './filterText.ts'
import { formatValue } from './format.ts'
import { useGet, valueNames } from './request.ts'
import { type PanelProps, selectionOf, type View } from './view.ts'

/**
 * The filters in the order in which they were added: a path that leads back to each of them, with a form that adds one.
 * @param problem why the API rejected a filter; empty if it did not
 */
export function FilterBar({ view, onChange, problem }: PanelProps & { problem: string }) {
  const { filters } = view
  /** Keeps the first filters, and groups by the dimension of the next one. */
  function backTo(count: number) {
    const { [count]: next } = filters
    const groupBy = next && isListed(next) && [filterDimensions[next[1]]]
    onChange({ filters: filters.slice(0, count), ...(groupBy && { groupBy }) })
  }
  return (
    <section class="chips controls" aria-label="Filters" tabIndex={-1}>
      {filters.length > 0 && <Button onClick={() => backTo(0)}>All</Button>}
      {filters.map((condition, index) => (
        <Chip
          key={JSON.stringify(condition)}
          view={view}
          condition={condition}
          onBack={index < filters.length - 1 ? () => backTo(index + 1) : undefined}
          onRemove={() => onChange({ filters: filters.toSpliced(index, 1) })}
        />
      ))}
      <AddFilter view={view} onChange={onChange} />
      <Problem text={problem} />
    </section>
  )
}

/** `onBack`: absent for the last filter. */
type ChipProps = { view: View; condition: Condition; onBack: (() => void) | undefined; onRemove: () => void }

function Chip({ view, condition, onBack, onRemove }: ChipProps) {
  const [operator, name, values] = isListed(condition) ? condition : (['', 'country', []] as const)
  const dimension = filterDimensions[name]
  const names = values.map((value) => valueNames.get(`${dimension} ${value}`))
  const isUnknown = namedDimensions.includes(dimension) && names.includes(undefined)
  const rows = { days: 365, ...filterParameters([['is', name, values]]), metrics: ['clicks' as const], limit: 100 }
  useGet('/reports', isUnknown ? { group_by: [dimension], ...rows } : undefined)
  const { label } = dimensions[dimension]
  const title = operator === '' ? '' : `${label}${operator === 'is' ? '' : ` ${operatorText(operator)}`}: `
  const shown = operator === '' ? conditionText(condition) : values.map((value, at) => names[at] ?? value).join(', ')
  // Costs often have no country and no device, so a filter leaves them out.
  const isPartial = operator === 'is' && !values.includes(notSet)
  const without = selectionOf({ ...view, filters: withCondition(view.filters, ['is', name, [notSet]]) })
  const { data } = useGet('/stats/overview', isPartial ? without : undefined)
  const costWithout = isPartial ? data?.totals.cost : undefined
  return (
    <>
      <span aria-hidden="true">›</span>
      <span class="chip" title={`${title}${shown}`}>
        <Button class="back" onClick={onBack}>
          <span class="hint">{title}</span> <bdi class="name">{shown}</bdi>
        </Button>
        <Button onClick={onRemove} aria-label={`Remove the filter ${title}${shown.slice(0, 100)}`}>
          ×
        </Button>
      </span>
      {data && costWithout !== 0 && costWithout !== undefined && (
        <span class="hint">
          Not counted: cost without {label.toLowerCase()}, {formatValue(costWithout, 'amount', data.currency)}
        </span>
      )}
    </>
  )
}
