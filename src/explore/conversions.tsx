import type { QueryOf, RowOf } from '../packages/client/client.ts'
import { Name, RowTable } from './controls.tsx'
import { formatMoment, formatValue, noValue } from './format.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'
import { type PanelProps, selectionOf } from './view.ts'

export type Conversion = RowOf<'/conversions'>

export type OpenJourney = (of: QueryOf<'/journeys'>) => void

const rowsShown = 20

interface ConversionRowsProps {
  data: readonly Conversion[]
  zone: string
  onJourney: OpenJourney
}

/** The latest conversions of the range, with their current status. */
export function Conversions({ view, onJourney }: PanelProps & { onJourney: OpenJourney }) {
  const list = useGet('/conversions', { ...selectionOf(view, Date.now()), limit: rowsShown }, ['read:conversions'])
  return (
    <Panel
      title="Latest conversions"
      area="conversions"
      loaded={list}
      csv={{ format: 'csv', csv_escape: 'formulas', limit: undefined }}
      empty="No conversion in this range with these filters."
    >
      {({ data }) => data.length > 0 && <ConversionRows data={data} zone={view.tz} onJourney={onJourney} />}
    </Panel>
  )
}

/** Conversions; each leads to its journey. Revenue in another currency has the converted amount below it. */
export function ConversionRows({ data, zone, onJourney }: ConversionRowsProps) {
  return (
    <RowTable
      label="Rows of conversions"
      rows={data}
      title={({ id }) => `Conversion ${id}`}
      columns={[
        {
          label: 'Time',
          cell: (row) => <JourneyButton row={row} at={formatMoment(row.convertedAt, zone)} onJourney={onJourney} />,
        },
        { label: 'Status', cell: ({ status }) => <span class={`status ${status}`}>{status}</span> },
        { label: 'Event', cell: ({ eventName }) => <Name text={eventName} /> },
        { label: 'Campaign', cell: ({ campaignName, campaignId }) => <Name text={campaignName ?? campaignId} /> },
        { label: 'Country', cell: ({ country }) => country ?? noValue },
        { label: 'Revenue', isNumber: true, cell: (row) => <Revenue row={row} /> },
      ]}
    />
  )
}

function Revenue({ row: { revenue, currency, revenueBase, baseCurrency } }: { row: Conversion }) {
  return (
    <>
      {formatValue(revenue, 'amount', currency ?? baseCurrency)}
      {currency && currency !== baseCurrency && (
        <span class="converted">{formatValue(revenueBase, 'amount', baseCurrency)}</span>
      )}
    </>
  )
}

interface JourneyButtonProps {
  row: { visitorId: string | null; clickId: string | null }
  at: string
  onJourney: OpenJourney
}

/** The time of a row, which leads to the journey of its visitor or click. */
export function JourneyButton({ row: { visitorId, clickId }, at, onJourney }: JourneyButtonProps) {
  const of = visitorId ? { visitor_id: visitorId } : clickId ? { click_id: clickId } : undefined
  if (!of) return at
  return (
    <button type="button" class="row" aria-label={`${at}: show the journey`} onClick={() => onJourney(of)}>
      {at}
    </button>
  )
}
