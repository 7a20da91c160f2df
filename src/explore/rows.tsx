import type { QueryOf, RowOf } from '../packages/client/types.ts'
import { Button, Name, RowTable, type TableColumn } from './controls.tsx'
import type { RowList } from './drillPath.ts'
import { formatMoment, formatValue } from './format.ts'
import type { MetricKind } from './metrics.ts'
import { Panel } from './panel.tsx'
import { useGet, useSession } from './request.ts'

type AnyRow = RowOf<'/clicks'> | RowOf<'/conversions'> | RowOf<'/costs'>
/** A column; `filter`: the parameter that makes all of its values equal. `isDetail`: only in a list beside the page. */
type ListColumn<Row> = TableColumn<Row> & { filter?: keyof QueryOf<'/conversions'>; isDetail?: true }
type ColumnsOf<Path extends RowList['path']> = readonly ListColumn<RowOf<Path>>[]

/** Shows a journey; undefined: the key may read none. */
export type OpenJourney = ((of: QueryOf<'/journeys'>) => void) | undefined

type RowsProps = { title: string; area: string; list: RowList; zone: string; onJourney: OpenJourney } & {
  /** How many rows are shown. */
  limit: number
  /** How many rows there are, if it is known. */
  count?: number | undefined
}

/** The latest rows of a list. The time of a row leads to the journey of its visitor or its click. The area `rows` has all columns. */
export function Rows({ list: { path, query }, ...props }: RowsProps) {
  const { title, area, limit, count, zone, onJourney } = props
  const { hidden = [] } = useSession().key
  const list = useGet(path, { ...query, limit })
  // Then the clicks have the whole cost.
  if (path === '/costs' && list.data?.data.length === 0) {
    const clicks = { path: '/clicks', query: { ...query, is_bot: false, is_test: false } } as const
    return <Rows {...props} list={clicks} />
  }
  const time: TableColumn<AnyRow> = {
    label: 'Time',
    cell: (row) => {
      if ('spentAt' in row) return formatMoment(row.spentAt, zone)
      const isConversion = 'convertedAt' in row
      const text = formatMoment(isConversion ? row.convertedAt : row.clickedAt, zone)
      const clickId = isConversion ? row.clickId : row.id
      const of = row.visitorId ? { visitor_id: row.visitorId } : clickId ? { click_id: clickId } : undefined
      return (
        <Button class="row" aria-label={`${text}: show the journey`} onClick={of && onJourney && (() => onJourney(of))}>
          {text}
        </Button>
      )
    },
  }
  const shown = (columnsOf[path] as ColumnsOf<'/clicks'>).filter(
    ({ filter, isDetail, label }) =>
      // The label of an amount is its field.
      !hidden.includes(label.toLowerCase()) &&
      (area === 'rows' || !isDetail) &&
      !(filter && isOneValue((query as Record<string, unknown>)[filter])),
  )
  const columns = [time, ...shown] as TableColumn<AnyRow>[]
  return (
    <Panel title={title} area={area} loaded={list} empty={`No ${path.slice(1)} in this selection.`}>
      {({ data }) =>
        data.length > 0 && (
          <>
            <RowTable label={`Rows of ${path.slice(1)}`} rows={data} title={titleOf} columns={columns} />
            <p class="state hint">
              {data.length < limit
                ? `${data.length} rows.`
                : `The latest ${limit} ${count ? `of ${count.toLocaleString()} ` : ''}rows. The CSV file has all.`}
              {path === '/costs' && ' The cost of clicks is not in this list.'}
            </p>
          </>
        )
      }
    </Panel>
  )
}

const titleOf = ({ id }: AnyRow) => `Id: ${id}`

/** Whether a filter selects one value, which a column need not repeat. */
const isOneValue = (text: unknown) => typeof text === 'string' && /^(?!!)([^\\,]|\\.)+$/.test(text)

/** A column of texts. @param more `filter` and `isDetail` */
function texts<Row>(label: string, of: (row: Row) => string | null, more: Partial<ListColumn<Row>> = {}) {
  return { label, cell: (row: Row) => <Name text={of(row)} />, ...more } satisfies ListColumn<Row>
}

/** Columns that the lists have in common. */
const common: readonly ListColumn<AnyRow>[] = [
  texts('Id', ({ id }) => id, { isDetail: true }),
  texts('Campaign', (row) => row.campaignName ?? row.campaignId, { filter: 'campaign_id' }),
  texts('Offer', (row) => row.offerName ?? row.offerId, { filter: 'offer_id', isDetail: true }),
  texts('Country', ({ country }) => country, { filter: 'country' }),
  texts('Device', ({ device }) => device, { filter: 'device', isDetail: true }),
  texts('Sub-ids', ({ subIds }) => Object.values(subIds).filter(Boolean).join(', ') || null, { isDetail: true }),
]

/** @param kind a click has a cost as small as a rate */
const costColumn = (kind: MetricKind): ListColumn<RowOf<'/clicks'> | RowOf<'/costs'>> => ({
  label: 'Cost',
  isNumber: true,
  cell: ({ cost, currency, baseCurrency }) => formatValue(cost, kind, currency ?? baseCurrency),
})

const clickColumns: ColumnsOf<'/clicks'> = [
  ...common,
  { label: 'Conversions', isNumber: true, cell: ({ conversionCount }) => formatValue(conversionCount, 'count') },
  costColumn('rate'),
]

const conversionColumns: ColumnsOf<'/conversions'> = [
  { label: 'Status', filter: 'status', cell: ({ status }) => <span class={`status ${status}`}>{status}</span> },
  texts('Event', ({ eventName }) => eventName),
  ...common,
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

const costColumns: ColumnsOf<'/costs'> = [...common, costColumn('amount')]

const columnsOf = { '/clicks': clickColumns, '/conversions': conversionColumns, '/costs': costColumns } as const
