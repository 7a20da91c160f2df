import type { ResponseOf } from '../packages/client/client.ts'
import { Column, Name, Table } from './controls.tsx'
import { formatValue, noValue } from './format.ts'
import { Panel } from './panel.tsx'
import { type Loaded, useGet } from './request.ts'
import type { PanelProps } from './view.ts'

type Conversion = ResponseOf<'/conversions'>['data'][number]

const rowsShown = 20
const columns = ['Time', 'Status', 'Event', 'Campaign', 'Country', 'Revenue']

/**
 * The latest conversions of the range, with their current status.
 * @param overview has the range of the view as instants: lists have no time zone
 */
export function Conversions({ view, overview }: PanelProps & { overview: Loaded<ResponseOf<'/stats/overview'>> }) {
  const hasRange = overview.missing.length === 0 && overview.phase !== 'error'
  const range = overview.phase === 'ready' ? { from: overview.data.from, to: overview.data.to } : undefined
  const isKnown = !hasRange || range !== undefined
  const query = isKnown ? { ...range, ...view.filters, limit: rowsShown } : undefined
  const list = useGet('/conversions', query, ['read:conversions'])
  return (
    <Panel
      title={hasRange ? 'Latest conversions' : 'Latest conversions of all time'}
      area="conversions"
      loaded={list}
      csv={{ format: 'csv', csv_escape: 'formulas', limit: undefined }}
      empty="No conversion in this range with these filters."
    >
      {({ data }) =>
        data.length > 0 && (
          <Table
            label="Rows of the latest conversions"
            head={columns.map((label) => <Column key={label} label={label} isNumber={label === 'Revenue'} />)}
          >
            <tbody>
              {data.map((row) => (
                <ConversionRow key={row.id} row={row} zone={view.tz} />
              ))}
            </tbody>
          </Table>
        )
      }
    </Panel>
  )
}

function ConversionRow({ row, zone }: { row: Conversion; zone: string }) {
  return (
    <tr title={`Conversion ${row.id}`}>
      <td>
        {new Date(row.convertedAt).toLocaleString(undefined, {
          dateStyle: 'short',
          timeStyle: 'short',
          timeZone: zone,
        })}
      </td>
      <td>
        <span class={`status ${row.status}`}>{row.status}</span>
      </td>
      <td>
        <Name text={row.eventName} />
      </td>
      <td>
        <Name text={row.campaignName ?? row.campaignId} />
      </td>
      <td>{row.country ?? noValue}</td>
      <td class="number">{formatValue(row.revenue, 'amount', row.currency ?? row.baseCurrency)}</td>
    </tr>
  )
}
