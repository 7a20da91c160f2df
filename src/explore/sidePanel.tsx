import { useEffect, useRef } from 'preact/hooks'
import type { JourneyRow, QueryOf, ResponseOf, RowOf } from '../packages/client/client.ts'
import { Name, RowTable } from './controls.tsx'
import { type Conversion, ConversionRows, JourneyButton, type OpenJourney } from './conversions.tsx'
import type { RowList } from './drillPath.ts'
import { csvOf } from './files.ts'
import { formatMoment, formatValue, noValue } from './format.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'

type Click = RowOf<'/clicks'>

/** What the side panel shows. */
export type Detail = (RowList & { title: string }) | { path: '/journeys'; query: QueryOf<'/journeys'> }

export type OpenRows = (rows: RowList & { title: string }) => void

const rowsShown = 100

interface SidePanelProps {
  detail: Detail
  zone: string
  onJourney: OpenJourney
  /** Leads back to the rows from which a journey was opened; undefined: there are none. */
  onBack: (() => void) | undefined
  onClose: () => void
}

/** A dialog beside the page with the rows of a number, or with a journey. */
export function SidePanel({ detail, onBack, onClose, ...props }: SidePanelProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog class="side" ref={dialog} onClose={onClose} aria-label="Details">
      <div class="controls">
        {onBack && (
          <button type="button" onClick={onBack}>
            Back
          </button>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {detail.path === '/journeys' ? <Journey {...detail} {...props} /> : <Rows {...detail} {...props} />}
    </dialog>
  )
}

type RowsProps = Pick<SidePanelProps, 'zone' | 'onJourney'> & RowList & { title: string }

function Rows({ title, path, query, ...props }: RowsProps) {
  const scope = path === '/clicks' ? 'read:clicks' : 'read:conversions'
  const list = useGet(path, { ...query, limit: rowsShown }, [scope])
  return (
    <Panel
      title={title}
      area="rows"
      loaded={list}
      csv={{ format: 'csv', csv_escape: 'formulas', limit: undefined }}
      empty="No rows."
    >
      {({ data }) =>
        data.length > 0 && (
          <>
            {path === '/clicks' ? (
              <ClickRows data={data as Click[]} {...props} />
            ) : (
              <ConversionRows data={data as Conversion[]} {...props} />
            )}
            {data.length === rowsShown && <p class="hint">The latest {rowsShown} rows. The CSV file has all.</p>}
          </>
        )
      }
    </Panel>
  )
}

function ClickRows({ data, zone, onJourney }: Pick<RowsProps, 'zone' | 'onJourney'> & { data: readonly Click[] }) {
  return (
    <RowTable
      label="Rows of clicks"
      rows={data}
      title={({ id }) => `Click ${id}`}
      columns={[
        {
          label: 'Time',
          cell: ({ id, visitorId, clickedAt }) => (
            <JourneyButton row={{ visitorId, clickId: id }} at={formatMoment(clickedAt, zone)} onJourney={onJourney} />
          ),
        },
        { label: 'Campaign', cell: ({ campaignName, campaignId }) => <Name text={campaignName ?? campaignId} /> },
        { label: 'Country', cell: ({ country }) => country ?? noValue },
        { label: 'Device', cell: ({ device }) => device ?? noValue },
        { label: 'Conversions', isNumber: true, cell: ({ conversionCount }) => conversionCount },
        {
          label: 'Cost',
          isNumber: true,
          cell: ({ cost, currency, baseCurrency }) => formatValue(cost, 'rate', currency ?? baseCurrency),
        },
      ]}
    />
  )
}

function Journey({ query, zone }: { query: QueryOf<'/journeys'>; zone: string }) {
  const journey = useGet('/journeys', { ...query, limit: 200 }, ['read:events'])
  return (
    <Panel title="Journey" area="journey" loaded={journey} csv={journeyCsv} empty="No rows.">
      {({ data, omitted, hasMore }) => (
        <>
          <ol class="journey">
            {data.map((row) => (
              <li key={`${row.kind} ${row.id}`}>
                <span class="hint">{formatMoment(row.at, zone)}</span>
                <JourneyText row={row} />
              </li>
            ))}
          </ol>
          {hasMore && <p class="hint">The first 200 rows.</p>}
          {omitted.length > 0 && <p class="hint">This key may not read: {omitted.join(', ')}.</p>}
        </>
      )}
    </Panel>
  )
}

function journeyCsv({ data }: ResponseOf<'/journeys'>): Blob {
  return csvOf([
    ['at', 'kind', 'id', 'campaignId', 'eventName'],
    ...data.map((row) => [row.at, row.kind, row.id, row.campaignId, row.kind === 'click' ? null : row.eventName]),
  ])
}

function JourneyText({ row }: { row: JourneyRow }) {
  const name = row.kind === 'click' ? (row.campaignName ?? row.campaignId) : row.eventName
  const details = row.kind === 'click' ? [row.country, row.device, row.os, row.browser] : []
  const amount = row.kind === 'conversion' && formatValue(row.revenue, 'amount', row.currency ?? row.baseCurrency)
  return (
    <>
      <strong>{row.kind}</strong> <Name text={name} />
      <span class="hint">{details.filter(Boolean).join(', ')}</span>
      {row.kind === 'conversion' && <span class={`status ${row.status}`}>{row.status}</span>}
      {amount}
    </>
  )
}
