import { useRef } from 'preact/hooks'
import { dimensions, type FilterName, filterDimensions } from './dimensions.ts'
import { AddFilter } from './filterForm.tsx'
import { formatFilter, parseFilter } from './filterText.ts'
import { useGet } from './request.ts'
import type { PanelProps, View } from './view.ts'

/**
 * The filters in the order in which they were added: a path that leads back to each of them, with a form that adds one.
 * @param problem why the API rejected a filter; empty if it did not
 */
export function FilterBar({ view, onChange, problem }: PanelProps & { problem: string }) {
  const { filters } = view
  const section = useRef<HTMLElement>(null)
  const names = Object.keys(filters) as FilterName[]
  function change(rest: View['filters'], group?: FilterName) {
    onChange({ filters: rest, ...(group && { groupBy: [filterDimensions[group]] }) })
    // The button that had the focus is removed.
    section.current?.focus()
  }
  /** Keeps the first filters, and groups by the dimension of the next one. */
  function backTo(count: number) {
    change(Object.fromEntries(names.slice(0, count).map((name) => [name, filters[name]])), names[count])
  }
  function remove(name: FilterName) {
    const { [name]: _removed, ...rest } = filters
    change(rest)
  }
  return (
    <section class="filters controls" aria-label="Filters" ref={section} tabIndex={-1}>
      {names.length === 0 ? (
        <span class="hint">No filter. Select a row of the drill-down, or add one:</span>
      ) : (
        <button type="button" onClick={() => backTo(0)}>
          All
        </button>
      )}
      {names.map((name, index) => (
        <Chip
          key={`${name} ${filters[name]}`}
          name={name}
          text={filters[name] ?? ''}
          onBack={index < names.length - 1 ? () => backTo(index + 1) : undefined}
          onRemove={() => remove(name)}
        />
      ))}
      <AddFilter view={view} onChange={onChange} />
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

/** Dimensions with values that have names; the address has their ids. */
const namedDimensions = ['campaign', 'offer', 'landing', 'traffic_source', 'country']

interface ChipProps {
  name: FilterName
  text: string
  /** Absent for the last filter. */
  onBack: (() => void) | undefined
  onRemove: () => void
}

function Chip({ name, text, onBack, onRemove }: ChipProps) {
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
  const content = (
    <>
      <span class="hint">
        {label}
        {isExcluded ? ' is not' : ''}:
      </span>{' '}
      <bdi class="name">{shown}</bdi>
    </>
  )
  return (
    <>
      <span aria-hidden="true">›</span>
      <span class="chip" title={`${label}: ${shown}`}>
        {onBack ? (
          <button type="button" class="back" onClick={onBack}>
            {content}
          </button>
        ) : (
          content
        )}
        <button type="button" onClick={onRemove} aria-label={`Remove the filter ${label}: ${shown.slice(0, 100)}`}>
          ×
        </button>
      </span>
    </>
  )
}
