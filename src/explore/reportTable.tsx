import type { ResponseOf } from '../packages/client/client.ts'
import { Difference } from './cards.tsx'
import { Button, Name, Table } from './controls.tsx'
import { type Dimension, dimensions } from './dimensions.ts'
import { changeFor, type ReportRow, rowsOf } from './drillPath.ts'
import { formatValue, formatWeekday, type Value } from './format.ts'
import { hasNumbers, isSum, metrics, type SelectedMetric } from './metrics.ts'
import type { OpenRows } from './sidePanel.tsx'
import type { PanelProps } from './view.ts'

type Report = ResponseOf<'/reports'>
type Totals = Report['totals']

interface ReportTableProps extends PanelProps {
  body: Report
  /** The rows of the report that are shown. */
  rows: readonly ReportRow[]
  onRows: OpenRows
}

/** Rows of a report below their totals. The order follows the headers; a number leads to the rows that it counts. */
export function ReportTable({ body, rows, onRows, ...props }: ReportTableProps) {
  const { view } = props
  const groups = body.groupBy.split(',') as Dimension[]
  const [firstGroup = '', ...otherGroups] = groups.map((name) => dimensions[name].label)
  const shown = view.columns.filter((name) => body.totals[name] !== undefined)
  const sorted = shown.find((name) => view.sort.replace('-', '') === name) ?? shown[0]
  const cells = (of: Totals, before: Totals | undefined, row?: ReportRow) =>
    shown.map((metric) => (
      <td key={metric} class={`number ${(of[metric] ?? 0) < 0 ? 'loss' : ''}`} data-metric={metric}>
        <Count
          text={formatValue(of[metric], metrics[metric].kind, body.currency)}
          label={metrics[metric].label}
          onOpen={of[metric] ? openerOf(metric, row) : undefined}
        />
        {row && metric === sorted && <Share part={of[metric]} whole={body.totals[metric]} metric={metric} />}
        {before && hasNumbers(before) && <Difference metric={metric} now={of[metric]} before={before[metric]} />}
      </td>
    ))
  function openerOf(metric: SelectedMetric, row: ReportRow | undefined) {
    const list = rowsOf(metric, row, groups, view, Date.now())
    const of = row ? namesOf(row, groups) : ['all rows']
    return list && (() => onRows(list, `${metrics[metric].label}: ${of.join(', ')}`))
  }
  return (
    <Table
      label="Rows of the drill-down"
      head={[
        <Sorter key="id" label={firstGroup} name="id" {...props} />,
        ...otherGroups.map((label) => (
          <th key={label} scope="col">
            {label}
          </th>
        )),
        ...shown.map((name) => <Sorter key={name} label={metrics[name].label} name={name} {...props} />),
      ]}
      totals={[
        <th key="all" scope="row" colSpan={groups.length}>
          Total of all rows
        </th>,
        ...cells(body.totals, body.previous?.totals),
      ]}
    >
      <tbody>
        {rows.map((row) => (
          <tr key={row.id}>
            <RowNames row={row} groups={groups} {...props} />
            {cells(row, row.previous, row)}
          </tr>
        ))}
      </tbody>
    </Table>
  )
}

/** What a row is called, by dimension. */
function namesOf(row: ReportRow, groups: readonly Dimension[]): string[] {
  return groups.map((dimension) => {
    const { id = '', name } = row.dimensions[dimension] ?? {}
    return dimension === 'weekday' ? formatWeekday(id) : (name ?? id)
  })
}

/** The values of a row; the first one selects the row. */
function RowNames({ row, groups, view, onChange }: PanelProps & { row: ReportRow; groups: readonly Dimension[] }) {
  const change = changeFor(row, groups, view, Date.now())
  const [first, ...others] = namesOf(row, groups).map((name, at) => <Name key={at} text={name} />)
  return (
    <>
      <th scope="row">
        <Button class="row" onClick={change && (() => onChange(change))}>
          {first}
        </Button>
      </th>
      {others.map((name, index) => (
        <td key={index}>{name}</td>
      ))}
    </>
  )
}

/** A number, with a button if it leads to rows. */
function Count({ text, label, onOpen }: { text: string; label: string; onOpen: (() => void) | undefined }) {
  return (
    <Button class="count-link" aria-label={`${text} ${label}: show the rows`} onClick={onOpen}>
      {text}
    </Button>
  )
}

/** A bar of the share of a row in the total; nothing for ratios and losses. */
function Share({ part, whole, metric }: { part: Value; whole: Value; metric: SelectedMetric }) {
  if (!part || !whole || part < 0 || whole < part || !isSum(metric)) return null
  const percent = (part / whole) * 100
  return (
    <span
      class="share"
      style={{ width: `${percent}%` }}
      title={`${formatValue(percent, 'percent', '')} of the total`}
    />
  )
}

/** The header of a column that sorts the rows. @param name what the column sorts by */
function Sorter({ label, name, view, onChange }: PanelProps & { label: string; name: SelectedMetric | 'id' }) {
  const order = view.sort === name ? 'ascending' : view.sort === `-${name}` ? 'descending' : undefined
  // Metrics begin with the largest, ids with the first.
  const next = order === 'ascending' || (order === undefined && name !== 'id') ? `-${name}` : name
  return (
    <th scope="col" class={name === 'id' ? '' : 'number'} aria-sort={order}>
      <Button class="sort" onClick={() => onChange({ sort: next })}>
        {label}
        <span aria-hidden="true">{order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}</span>
      </Button>
    </th>
  )
}
