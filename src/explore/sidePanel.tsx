import { useEffect, useRef } from 'preact/hooks'
import type { QueryOf, ResponseOf, RowOf } from '../packages/client/types.ts'
import { Button, Name, RowTable } from './controls.tsx'
import type { RowList } from './drillPath.ts'
import type { FileRow } from './files.ts'
import { formatMoment, formatValue } from './format.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'
import { type OpenJourney, Rows } from './rows.tsx'

/** What the side panel shows, last. */
export type Details = readonly ({ journey: QueryOf<'/journeys'> } | RowsDetail)[]

/** Rows behind a number. `count`: how many there are, if the number counts them. */
type RowsDetail = { list: RowList; title: string; count: number | undefined }
export type OpenRows = (of: RowsDetail) => void

const rowsShown = 100
const journeyRowsShown = 200

/** `details`: the last one is shown; the one before it are the rows from which a journey was opened. */
type SidePanelProps = { details: Details; onDetails: (of: Details) => void; zone: string; onJourney: OpenJourney }

/** A dialog beside the page with the rows of a number, or with a journey. */
export function SidePanel({ details, onDetails, zone, onJourney }: SidePanelProps) {
  const detail = details.at(-1) as Details[number]
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog class="side" ref={dialog} onClose={() => onDetails([])} aria-label="Details" tabIndex={-1}>
      <div class="controls">
        {details.length > 1 && <Button onClick={() => onDetails(details.slice(0, -1))}>Back</Button>}
        <Button onClick={() => dialog.current?.close()}>Close</Button>
      </div>
      {'journey' in detail ? (
        <Journey query={detail.journey} zone={zone} />
      ) : (
        <Rows {...detail} area="rows" limit={rowsShown} zone={zone} onJourney={onJourney} />
      )}
    </dialog>
  )
}

function Journey({ query, zone }: { query: QueryOf<'/journeys'>; zone: string }) {
  const journey = useGet('/journeys', { ...query, limit: journeyRowsShown })
  return (
    <Panel title="Journey" area="journey" loaded={journey} csv={journeyCsv} empty="No rows.">
      {({ data, omitted, hasMore }) =>
        data.length > 0 && (
          <>
            <RowTable
              label="Rows of the journey"
              rows={data}
              columns={[
                { label: 'Time', cell: ({ at }) => formatMoment(at, zone) },
                { label: 'Kind', cell: ({ kind }) => kind },
                { label: 'Campaign or event', cell: (row) => <Name text={nameOf(row)} /> },
                { label: 'Details', cell: detailsOf },
              ]}
            />
            {hasMore && <p class="state hint">The first {journeyRowsShown} rows.</p>}
            {omitted.length > 0 && <p class="state hint">This key may not read: {omitted.join(', ')}.</p>}
          </>
        )
      }
    </Panel>
  )
}

type JourneyRow = RowOf<'/journeys'>

const nameOf = (row: JourneyRow) => (row.kind === 'click' ? (row.campaignName ?? row.campaignId) : row.eventName)

function detailsOf(row: JourneyRow): string {
  if (row.kind === 'click') return [row.country, row.device, row.os, row.browser].filter(Boolean).join(', ')
  if (row.kind === 'event') return ''
  return `${row.status}, ${formatValue(row.revenue, 'amount', row.currency ?? row.baseCurrency)}`
}

const journeyCsv = ({ data }: ResponseOf<'/journeys'>): FileRow[] =>
  data.map((row) => {
    const { at, kind, id, campaignId } = row
    return { at, kind, id, campaignId, eventName: row.kind === 'click' ? null : row.eventName }
  })
