import { useState } from 'preact/hooks'
import { Difference } from './cards.tsx'
import { Button, Name, Table } from './controls.tsx'
import { datesIn } from './dates.ts'
import { type Dimension, dimensions } from './dimensions.ts'
import { changeFor, type Report, type ReportRow, rowsOf } from './drillPath.ts'
import { formatValue, formatWeekday, lossClass } from './format.ts'
import { isSum, metrics, type SelectedMetric } from './metrics.ts'
import type { OpenRows } from './sidePanel.tsx'
import { leavesOutRows, type PanelProps, sortedColumn } from './view.ts'

type Totals = Report['totals']

/** Too narrow for a table of several columns. */
const narrowWindow = matchMedia('(max-width: 700px)')

/** `rows`: the rows of the report that are shown. */
type ReportTableProps = PanelProps & { body: Report; rows: readonly ReportRow[]; onRows: OpenRows }

/**
 * Rows of a report below their totals. The order follows the headers; a number leads to the rows that it counts. In a narrow window all
 * names of a row are in its first column, and the column of the order is beside it. The rows have the focus after a drill-down.
 */
export function ReportTable({ body, rows, onRows, ...props }: ReportTableProps) {
  const { view } = props
  const groups = body.groupBy.split(',') as Dimension[]
  const [isNarrow, setNarrow] = useState(narrowWindow.matches)
  narrowWindow.onchange = ({ matches }) => setNarrow(matches)
  const labels = groups.map((name) => dimensions[name].label)
  const [firstGroup = '', ...otherGroups] = isNarrow ? [labels.join(', ')] : labels
  const columns = view.columns.filter((name) => body.totals[name] !== undefined)
  const sorted = sortedColumn({ ...view, columns })
  const shown = isNarrow ? [sorted, ...columns.filter((name) => name !== sorted)] : columns
  // A visitor of two rows is in both shares.
  const shared = view.share && isSum(sorted) ? sorted : undefined
  const table = { view, groups, dates: datesIn(view.tz, body) }
  const cells = (of: Totals, before: Totals | undefined, row?: ReportRow) =>
    shown.flatMap((metric) => {
      const { label, kind } = metrics[metric]
      const text = formatValue(of[metric], kind, body.currency)
      const isAmount = metric === sorted && view.sort.includes('change.')
      const list = of[metric] ? rowsOf(metric, row, table) : undefined
      const title = `${text} ${label}: ${(row ? namesOf(row, groups) : ['all rows']).join(', ')}`
      const count = kind === 'count' ? (of[metric] ?? undefined) : undefined
      const openList = list && (() => onRows({ list, title, count }))
      const cell = (
        <td key={metric} class={`number ${lossClass(of[metric], kind, body.currency)}`} data-metric={metric}>
          <Button class="count-link" aria-label={`${text} ${label}: show the rows`} onClick={openList}>
            {text}
          </Button>
          <Difference metric={metric} now={of} before={before} currency={body.currency} isAmount={isAmount} />
        </td>
      )
      if (metric !== shared) return cell
      const total = body.totals[metric]
      const share = total ? ((of[metric] ?? 0) / total) * 100 : null
      return [
        cell,
        <td key="share" class="number">
          {formatValue(share, 'percent')}
        </td>,
      ]
    })
  function selectorOf(row: ReportRow) {
    const change = changeFor(row, table)
    return change && (() => props.onChange(change))
  }
  function namesIn(row: ReportRow) {
    const names = namesOf(row, groups).map((name, at) => <Name key={at} text={name} />)
    return isNarrow ? [names] : names
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
        ...shown.flatMap((name) => [
          <Sorter key={name} label={metrics[name].label} name={name} {...props} />,
          name === shared && (
            <th key="share" scope="col" class="number">
              Share
            </th>
          ),
        ]),
      ]}
      totals={[
        <th key="all" scope="row" colSpan={1 + otherGroups.length}>
          {leavesOutRows(view) ? 'Total with the rows left out' : 'Total of all rows'}
        </th>,
        ...cells(body.totals, body.previous?.totals ?? undefined),
      ]}
    >
      <tbody tabIndex={-1}>
        {rows.map((row) => (
          <tr key={row.id}>
            {namesIn(row).map((names, at) =>
              at > 0 ? (
                <td key={at}>{names}</td>
              ) : (
                // The bar behind the first value is the share of the largest row.
                <th key={at} scope="row" style={{ '--share': `${shareOf(row, rows, sorted)}%` }}>
                  <Button class="row" onClick={selectorOf(row)}>
                    {names}
                  </Button>
                </th>
              ),
            )}
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

/** A row relative to the largest one, in percent; 0 for ratios and losses. */
function shareOf(row: ReportRow, rows: readonly ReportRow[], metric: SelectedMetric | undefined): number {
  if (!metric || !isSum(metric)) return 0
  const largest = Math.max(...rows.map((one) => one[metric] ?? 0))
  return largest > 0 ? (Math.max(0, row[metric] ?? 0) / largest) * 100 : 0
}

/** The header of a column that sorts the rows. @param name what the column sorts by */
function Sorter({ label, name, view, onChange }: PanelProps & { label: string; name: SelectedMetric | 'id' }) {
  const isChange = view.sort.includes('change.') && name !== 'id'
  const key = isChange ? `change.${name}` : name
  const order = view.sort === key ? 'ascending' : view.sort === `-${key}` ? 'descending' : undefined
  // Metrics begin with the largest, ids with the first.
  const next = order === 'ascending' || (order === undefined && name !== 'id') ? `-${key}` : key
  return (
    <th scope="col" class={name === 'id' ? '' : 'number'} aria-sort={order}>
      <Button class="sort" onClick={() => onChange({ sort: next })}>
        {label}
        {order && isChange && ', change'}
        <span aria-hidden="true">{order === 'ascending' ? '\u00a0▲' : order === 'descending' ? '\u00a0▼' : ''}</span>
      </Button>
    </th>
  )
}
