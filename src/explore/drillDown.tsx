import { useState } from 'preact/hooks'
import type { QueryOf, ResponseOf } from '../packages/client/client.ts'
import { Difference } from './cards.tsx'
import { Column, Name, Select, Table } from './controls.tsx'
import { addDays, endOfMonth } from './dates.ts'
import { type Dimension, dimensionNames, dimensions, filterOf } from './dimensions.ts'
import { formatFilter } from './filterText.ts'
import { formatValue } from './format.ts'
import { type Metric, metrics, tableMetrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'
import { comparisonOf, type Dates, defaultView, type PanelProps, selectionOf, type View, viewDates } from './view.ts'

type Report = ResponseOf<'/reports'>
type Row = Report['data'][number]

/** Rows that are shown at first and added by each "show more": a thousand rows at once take long to lay out. */
const rowsAtOnce = 100

/** A report by up to three dimensions. A click on a row filters by it. */
export function DrillDown({ view, onChange }: PanelProps) {
  const query = {
    group_by: [...view.groupBy],
    ...selectionOf(view, Date.now()),
    ...comparisonOf(view),
    sort: view.sort as NonNullable<QueryOf<'/reports'>['sort']>,
    metrics: tableMetrics,
  }
  const report = useGet('/reports', query, ['read:reports'])
  return (
    <Panel
      title="Drill-down"
      area="drill-down"
      loaded={report}
      csv={{ format: 'csv', totals: true, csv_escape: 'formulas' }}
      controls={
        <Groups
          groupBy={view.groupBy}
          onGroups={(groupBy) => onChange({ groupBy, sort: sortOf(groupBy, view.sort) })}
        />
      }
      empty="No clicks and conversions in this range with these filters."
    >
      {(body) => body.data.length > 0 && <Rows key={body.groupBy} body={body} view={view} onChange={onChange} />}
    </Panel>
  )
}

/** A click has none of these dimensions: their values have conversions, but no clicks to order them by. */
const conversionDimensions: readonly Dimension[] = ['status', 'source', 'event_name', 'coupon_code']

function sortOf(groups: readonly Dimension[], sort: string): string {
  const hasNoClicks = groups.some((name) => conversionDimensions.includes(name))
  return hasNoClicks && sort === defaultView.sort ? '-conversions' : sort
}

function Groups({ groupBy, onGroups }: { groupBy: readonly Dimension[]; onGroups: (names: Dimension[]) => void }) {
  return (
    <div class="controls">
      {[0, 1, 2].slice(0, groupBy.length + 1).map((index) => (
        <label key={index}>
          <span class={index === 0 ? '' : 'visually-hidden'}>
            {index === 0 ? 'Group by' : `then by (${index + 1})`}
          </span>{' '}
          <Select
            options={[
              ...(index > 0 ? [['', groupBy[index] ? '(none)' : 'then by …'] as const] : []),
              ...dimensionNames
                .filter((name) => name === groupBy[index] || !groupBy.includes(name))
                .map((name) => [name, dimensions[name].label] as const),
            ]}
            value={groupBy[index] ?? ''}
            onChoose={(chosen) => {
              const names = [...groupBy.slice(0, index), chosen, ...groupBy.slice(index + 1)]
              onGroups(names.filter((name) => name !== ''))
            }}
          />
        </label>
      ))}
    </div>
  )
}

function Rows({ body, ...props }: PanelProps & { body: Report }) {
  const { view, onChange } = props
  const [shown, setShown] = useState(rowsAtOnce)
  const groups = body.groupBy.split(',') as Dimension[]
  const [firstGroup = '', ...otherGroups] = groups.map((name) => dimensions[name].label)
  const { data, totals, previous, currency, bucketCount } = body
  const sorted = view.sort.replace('-', '')
  const rows = data.slice(0, shown)
  const dates = viewDates(view, Date.now())
  const cells = (of: Row | Report['totals'], before: Report['totals'] | undefined) =>
    tableMetrics.map((metric) => (
      <td key={metric} class="number" data-metric={metric}>
        {formatValue(of[metric], metrics[metric].kind, currency)}
        {before && metric === sorted && (
          <Difference now={of[metric]} before={before[metric]} kind={metrics[metric].kind} />
        )}
      </td>
    ))
  return (
    <>
      <Table
        label="Rows of the drill-down"
        head={[
          <Sorter key="id" label={firstGroup} name="id" {...props} />,
          ...otherGroups.map((label) => <Column key={label} label={label} />),
          ...tableMetrics.map((name) => <Sorter key={name} label={metrics[name].label} name={name} {...props} />),
        ]}
      >
        <tbody>
          {rows.map((row) => {
            const change = changeFor(row, groups, view, dates)
            const [first, ...others] = dimensionValues(row, groups).map(({ dimension, id, name }) => (
              <Name key={dimension} text={name ?? id} />
            ))
            return (
              <tr key={row.id}>
                <th scope="row">
                  {change ? (
                    <button type="button" class="row" onClick={() => onChange(change)}>
                      {first}
                    </button>
                  ) : (
                    first
                  )}
                </th>
                {others.map((name, index) => (
                  <td key={index}>{name}</td>
                ))}
                {cells(row, row.previous)}
              </tr>
            )
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={groups.length}>
              Total
            </th>
            {cells(totals, previous?.totals)}
          </tr>
        </tfoot>
      </Table>
      <p class="table-foot">
        <span data-count>
          {rows.length.toLocaleString()} of {bucketCount.toLocaleString()}
        </span>
        {rows.length < data.length && (
          <button type="button" onClick={() => setShown(shown + rowsAtOnce)}>
            Show more
          </button>
        )}
        {rows.length === data.length && body.truncated && (
          <span class="hint">
            The API returns {data.length.toLocaleString()} rows at most; add a filter to see others.
          </span>
        )}
      </p>
    </>
  )
}

/** The header of a column that sorts the rows. @param name what the column sorts by */
function Sorter({ label, name, view, onChange }: PanelProps & { label: string; name: Metric | 'id' }) {
  const order = view.sort === name ? 'ascending' : view.sort === `-${name}` ? 'descending' : undefined
  // Metrics begin with the largest, ids with the first.
  const next = order === 'ascending' || (order === undefined && name !== 'id') ? `-${name}` : name
  return (
    <th scope="col" class={name === 'id' ? '' : 'number'} aria-sort={order}>
      <button type="button" class="sort" onClick={() => onChange({ sort: next })}>
        {label}
        <span aria-hidden="true">{order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}</span>
      </button>
    </th>
  )
}

function dimensionValues(row: Row, groups: readonly Dimension[]) {
  return groups.map((dimension) => ({ dimension, ...(row.dimensions[dimension] as Row['dimensions'][string]) }))
}

/**
 * The filters and dates that select a row; undefined if no dimension can be selected.
 * @param shown the dates of the table
 */
function changeFor(row: Row, groups: readonly Dimension[], view: View, shown: Dates): Partial<View> | undefined {
  const values = dimensionValues(row, groups)
  const filters = values.flatMap(({ dimension, id }) => {
    const filter = filterOf(dimension)
    return filter ? [[filter, formatFilter({ values: [id], isExcluded: false })]] : []
  })
  const units = values.flatMap(({ dimension, id }) => datesOfUnit(dimension, id) ?? [])
  if (filters.length === 0 && units.length === 0) return undefined
  // A week or a month may begin before the range of the table, and end after it.
  const froms = [shown, ...units].map(({ from }) => from).sort()
  const tos = [shown, ...units].map(({ to }) => to).sort()
  return {
    filters: { ...view.filters, ...Object.fromEntries(filters) },
    ...(units.length > 0 && { range: { from: froms.at(-1) ?? shown.from, to: tos[0] ?? shown.to } }),
  }
}

function datesOfUnit(dimension: Dimension, id: string): Dates | undefined {
  if (dimension === 'day') return { from: id, to: id }
  if (dimension === 'week') return { from: id, to: addDays(id, 6) }
  return dimension === 'month' ? { from: `${id}-01`, to: endOfMonth(`${id}-01`) } : undefined
}
