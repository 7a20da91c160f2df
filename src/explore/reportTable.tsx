import type { ResponseOf } from '../packages/client/client.ts'
import { Difference } from './cards.tsx'
import { Button, Name, Table } from './controls.tsx'
import { datesIn } from './dates.ts'
import { type Dimension, dimensions } from './dimensions.ts'
import { changeFor, type ReportRow, rowsOf } from './drillPath.ts'
import { formatValue, formatWeekday, lossClass } from './format.ts'
import { hasNumbers, isSum, metrics, type SelectedMetric } from './metrics.ts'
import type { OpenRows } from './sidePanel.tsx'
import type { PanelProps } from './view.ts'

type Report = ResponseOf<'/reports'>
type Totals = Report['totals']

/** `rows`: the rows of the report that are shown. */
type ReportTableProps = PanelProps & { body: Report; rows: readonly ReportRow[]; onRows: OpenRows }

/** Rows of a report below their totals. The order follows the headers; a number leads to the rows that it counts. */
export function ReportTable({ body, rows, onRows, ...props }: ReportTableProps) {
  const { view } = props
  const groups = body.groupBy.split(',') as Dimension[]
  const [firstGroup = '', ...otherGroups] = groups.map((name) => dimensions[name].label)
  const shown = view.columns.filter((name) => body.totals[name] !== undefined)
  const sorted = shown.find((name) => view.sort.replace('-', '') === name) ?? shown[0]
  const dates = datesIn(view.tz, body)
  const cells = (of: Totals, before: Totals | undefined, row?: ReportRow) =>
    shown.map((metric) => {
      const { label, kind } = metrics[metric]
      const text = formatValue(of[metric], kind, body.currency)
      const list = of[metric] ? rowsOf(metric, row, groups, view, dates) : undefined
      const openList = () => {
        const title = `${text} ${label}: ${(row ? namesOf(row, groups) : ['all rows']).join(', ')}`
        if (list) onRows({ list, title, count: kind === 'count' ? (of[metric] ?? undefined) : undefined })
      }
      return (
        <td key={metric} class={`number ${lossClass(of[metric], kind, body.currency)}`} data-metric={metric}>
          <Button class="count-link" aria-label={`${text} ${label}: show the rows`} onClick={list && openList}>
            {text}
          </Button>
          {before && hasNumbers(before) && <Difference metric={metric} now={of} before={before} />}
        </td>
      )
    })
  function selectorOf(row: ReportRow) {
    const change = changeFor(row, groups, view, dates)
    return change && (() => props.onChange(change))
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
            <RowNames row={row} groups={groups} share={shareOf(row, rows, sorted)} onSelect={selectorOf(row)} />
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

type RowNamesProps = { row: ReportRow; groups: readonly Dimension[]; share: number; onSelect: (() => void) | undefined }

/** The values of a row; the first one selects the row. @param share of the largest row, in percent: a bar behind the first value */
function RowNames({ row, groups, share, onSelect }: RowNamesProps) {
  const [first, ...others] = namesOf(row, groups).map((name, at) => <Name key={at} text={name} />)
  return (
    <>
      <th scope="row" style={{ '--share': `${share}%` }}>
        <Button class="row" onClick={onSelect}>
          {first}
        </Button>
      </th>
      {others.map((name, index) => (
        <td key={index}>{name}</td>
      ))}
    </>
  )
}

/** A row relative to the largest one, in percent; 0 for ratios and losses. */
function shareOf(row: ReportRow, rows: readonly ReportRow[], metric: SelectedMetric | undefined): number {
  if (!metric || !isSum(metric)) return 0
  const largest = Math.max(...rows.map((one) => one[metric] ?? 0))
  return largest > 0 ? (Math.max(0, row[metric] ?? 0) / largest) * 100 : 0
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
