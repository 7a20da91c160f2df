import type { QueryOf, RowOf } from '../packages/client/client.ts'
import { Button, Name, RowTable, type TableColumn } from './controls.tsx'
import type { RowList } from './drillPath.ts'
import { formatMoment, formatValue, noValue } from './format.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'

type Row = RowOf<'/clicks'> | RowOf<'/conversions'> | RowOf<'/costs'>
type ColumnsOf<Path extends RowList['path']> = readonly TableColumn<RowOf<Path>>[]

export type OpenJourney = (of: QueryOf<'/journeys'>) => void

interface RowsProps {
  title: string
  area: string
  list: RowList
  /** How many rows are shown. */
  limit: number
  zone: string
  onJourney: OpenJourney
}

/** The latest rows of a list. The time of a row leads to the journey of its visitor or its click. */
export function Rows({ title, area, list: { path, query }, limit, zone, onJourney }: RowsProps) {
  const { scope, columns: ofPath, empty } = lists[path]
  const list = useGet(path, { ...query, limit }, [scope])
  const time: TableColumn<Row> = {
    label: 'Time',
    cell: (row) => {
      if ('spentAt' in row) return formatMoment(row.spentAt, zone)
      const isConversion = 'convertedAt' in row
      const text = formatMoment(isConversion ? row.convertedAt : row.clickedAt, zone)
      const clickId = isConversion ? row.clickId : row.id
      const of = row.visitorId ? { visitor_id: row.visitorId } : clickId ? { click_id: clickId } : undefined
      return (
        <Button class="row" aria-label={`${text}: show the journey`} onClick={of && (() => onJourney(of))}>
          {text}
        </Button>
      )
    },
  }
  const columns = [time, ...ofPath] as TableColumn<Row>[]
  return (
    <Panel
      title={title}
      area={area}
      loaded={list}
      csv={{ format: 'csv', csv_escape: 'formulas', limit: undefined }}
      empty={`No ${path.slice(1)} in this selection.${empty}`}
    >
      {({ data }) =>
        data.length > 0 && (
          <>
            <RowTable
              label={`Rows of ${path.slice(1)}`}
              rows={data}
              title={({ id }) => `Id: ${id}`}
              columns={columns}
            />
            {data.length === limit && <p class="hint">The latest {limit} rows. The CSV file has all.</p>}
          </>
        )
      }
    </Panel>
  )
}

const clickColumns: ColumnsOf<'/clicks'> = [
  { label: 'Campaign', cell: ({ campaignName, campaignId }) => <Name text={campaignName ?? campaignId} /> },
  { label: 'Country', cell: ({ country }) => country ?? noValue },
  { label: 'Device', cell: ({ device }) => device ?? noValue },
  { label: 'Conversions', isNumber: true, cell: ({ conversionCount }) => formatValue(conversionCount, 'count', '') },
  {
    label: 'Cost',
    isNumber: true,
    cell: ({ cost, currency, baseCurrency }) => formatValue(cost, 'rate', currency ?? baseCurrency),
  },
]

const conversionColumns: ColumnsOf<'/conversions'> = [
  { label: 'Status', cell: ({ status }) => <span class={`status ${status}`}>{status}</span> },
  { label: 'Event', cell: ({ eventName }) => <Name text={eventName} /> },
  { label: 'Campaign', cell: ({ campaignName, campaignId }) => <Name text={campaignName ?? campaignId} /> },
  { label: 'Country', cell: ({ country }) => country ?? noValue },
  {
    label: 'Revenue',
    isNumber: true,
    // Revenue in another currency has the converted amount below it.
    cell: ({ revenue, currency, revenueBase, baseCurrency }) => (
      <>
        {formatValue(revenue, 'amount', currency ?? baseCurrency)}
        {currency && currency !== baseCurrency && (
          <span class="converted hint">{formatValue(revenueBase, 'amount', baseCurrency)}</span>
        )}
      </>
    ),
  },
]

const costColumns: ColumnsOf<'/costs'> = [
  { label: 'Campaign', cell: ({ campaignName, campaignId }) => <Name text={campaignName ?? campaignId} /> },
  { label: 'Country', cell: ({ country }) => country ?? noValue },
  {
    label: 'Cost',
    isNumber: true,
    cell: ({ cost, currency, baseCurrency }) => formatValue(cost, 'amount', currency ?? baseCurrency),
  },
]

const lists = {
  '/clicks': { scope: 'read:clicks', columns: clickColumns, empty: '' },
  '/conversions': { scope: 'read:conversions', columns: conversionColumns, empty: '' },
  '/costs': { scope: 'read:reports', columns: costColumns, empty: ' The cost is the cost of clicks.' },
} as const
