import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { Difference } from './cards.tsx'
import { Name, Select, Table } from './controls.tsx'
import { addDays, endOfMonth } from './dates.ts'
import { type Dimension, dimensionNames, dimensions, filterOf } from './dimensions.ts'
import { formatFilter } from './filterText.ts'
import { changeOf, formatValue } from './format.ts'
import { type Metric, metrics, tableMetrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import type { QueryOf } from './paths.ts'
import { apiRequest, useGet } from './request.ts'
import { comparisonOf, type Dates, datesOf, type PanelProps, selectionOf, type View } from './view.ts'

type Report = ResponseOf<'/reports'>
type Row = Report['data'][number]

/** Rows that are shown at first and added by each "show more": a thousand rows at once take long to lay out. */
const rowsAtOnce = 100

/** A report by up to three dimensions. A click on a row filters by it. */
export function DrillDown({ view, onChange }: PanelProps) {
  const request = apiRequest('/reports', {
    group_by: view.groupBy.join(),
    ...selectionOf(view, Date.now()),
    ...comparisonOf(view),
    sort: view.sort as NonNullable<QueryOf<'/reports'>['sort']>,
    metrics: tableMetrics.join(),
  })
  const report = useGet(request, ['read:reports'])
  return (
    <Panel
      title="Drill-down"
      area="drill-down"
      scopes={['read:reports']}
      request={request}
      loaded={report}
      csv={{ format: 'csv', totals: true, csv_escape: 'formulas' }}
      controls={<Groups groupBy={view.groupBy} onGroups={(groupBy) => onChange({ groupBy })} />}
      empty="No clicks and conversions in this range with these filters."
    >
      {(body) => body.data.length > 0 && <Rows key={body.groupBy} body={body} view={view} onChange={onChange} />}
    </Panel>
  )
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

function Rows({ body, view, onChange }: PanelProps & { body: Report }) {
  const [shown, setShown] = useState(rowsAtOnce)
  const groups = body.groupBy.split(',') as Dimension[]
  const { data, totals, previous, currency, bucketCount } = body
  const sorted = view.sort.replace('-', '')
  const rows = data.slice(0, shown)
  const headers = [
    ...groups.map((name, index) => ({
      label: dimensions[name].label,
      name: index === 0 ? ('id' as const) : undefined,
    })),
    ...tableMetrics.map((metric) => ({ label: metrics[metric].label, name: metric })),
  ]
  const dates = datesOf(view, Date.now())
  const cells = (of: Row | Report['totals'], before: Report['totals'] | undefined) =>
    tableMetrics.map((metric) => (
      <td key={metric} class="number" data-metric={metric}>
        {formatValue(of[metric], metrics[metric].kind, currency)}
        {before && metric === sorted && (
          <Difference change={changeOf(of[metric], before[metric], metrics[metric].kind)} />
        )}
      </td>
    ))
  return (
    <>
      <Table label="Rows of the drill-down" isTall>
        <thead>
          <tr>
            {headers.map(({ label, name }) => (
              <SortableHeader
                key={label}
                label={label}
                name={name}
                sort={view.sort}
                onSort={(sort) => onChange({ sort })}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <TableRow
              key={row.id}
              names={namesOf(row, groups)}
              change={changeFor(row, groups, view, dates)}
              onChange={onChange}
            >
              {cells(row, row.previous)}
            </TableRow>
          ))}
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

interface SortableHeaderProps {
  label: string
  /** Undefined: rows cannot be sorted by it. */
  name: Metric | 'id' | undefined
  sort: string
  onSort: (sort: string) => void
}

function SortableHeader({ label, name, sort, onSort }: SortableHeaderProps) {
  const className = name === 'id' || name === undefined ? '' : 'number'
  if (name === undefined) return <th scope="col">{label}</th>
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined
  // Metrics begin with the largest, ids with the first.
  const next = order === undefined ? (name === 'id' ? 'id' : `-${name}`) : order === 'ascending' ? `-${name}` : name
  return (
    <th scope="col" class={className} aria-sort={order}>
      <button type="button" class="sort" onClick={() => onSort(next)}>
        {label}
        <span aria-hidden="true">{order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}</span>
      </button>
    </th>
  )
}

interface TableRowProps {
  names: readonly { dimension: Dimension; name: string }[]
  /** What a click on the row changes; undefined: nothing. */
  change: Partial<View> | undefined
  onChange: PanelProps['onChange']
  children: ComponentChildren
}

function TableRow({ names, change, onChange, children }: TableRowProps) {
  return (
    <tr class={change ? 'selectable' : ''}>
      {names.map(({ dimension, name }, index) => {
        const text = <Name text={name} />
        if (index > 0) return <td key={dimension}>{text}</td>
        return (
          <th key={dimension} scope="row">
            {change ? (
              <button type="button" class="row" onClick={() => onChange(change)}>
                {text}
              </button>
            ) : (
              text
            )}
          </th>
        )
      })}
      {children}
    </tr>
  )
}

/** Ids and names of a row, by dimension. */
function valuesOf(row: Row, groups: readonly Dimension[]): { dimension: Dimension; id: string; name: string | null }[] {
  return groups.map((dimension) => ({ dimension, ...(row.dimensions?.[dimension] ?? { id: row.id, name: row.name }) }))
}

function namesOf(row: Row, groups: readonly Dimension[]) {
  return valuesOf(row, groups).map(({ dimension, id, name }) => ({ dimension, name: name ?? id }))
}

/**
 * The filters and dates that select a row; undefined if no dimension can be selected.
 * @param shown the dates of the table
 */
function changeFor(row: Row, groups: readonly Dimension[], view: View, shown: Dates): Partial<View> | undefined {
  const values = valuesOf(row, groups)
  const filters = values.flatMap(({ dimension, id }) => {
    const filter = filterOf(dimension)
    return filter ? [[filter, formatFilter({ values: [id], isExcluded: false })]] : []
  })
  const units = values.flatMap(({ dimension, id }) => datesOfUnit(dimension, id) ?? [])
  if (filters.length === 0 && units.length === 0) return undefined
  return {
    filters: { ...view.filters, ...Object.fromEntries(filters) },
    ...(units.length > 0 && { range: commonDates([shown, ...units]) }),
  }
}

/** The dates that all of some ranges have: a week or a month may begin before the range of the table. */
function commonDates(ranges: readonly Dates[]): Dates {
  const last = (one: string, other: string) => (one > other ? one : other)
  const first = (one: string, other: string) => (one < other ? one : other)
  return { from: ranges.map(({ from }) => from).reduce(last), to: ranges.map(({ to }) => to).reduce(first) }
}

/** The dates of a day, a week or a month. */
function datesOfUnit(dimension: Dimension, id: string): Dates | undefined {
  if (dimension === 'day') return { from: id, to: id }
  if (dimension === 'week') return { from: id, to: addDays(id, 6) }
  return dimension === 'month' ? { from: `${id}-01`, to: endOfMonth(`${id}-01`) } : undefined
}
