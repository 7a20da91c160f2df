import { rowTables } from '../../query/attributes.ts'
import { ch, type Fragment, identifier, instant, join } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { RetainedRanges, RetainedResource } from '../../stores/postgres/retainedRanges.ts'
import type { Writer } from '../fence/session.ts'

/** `at` is the time of a row. Copies of rows of another table, and rows of another resource, are not counted: `isCopy`. */
export const agedTables = [
  { name: 'converted_click_rows', resource: 'clicks', at: timeColumns.clicks, isCopy: true },
  { name: 'clicks', resource: 'clicks', at: timeColumns.clicks, isCopy: false },
  // Costs are removed with the clicks of their time: the sums of a removed month have the costs of both.
  { name: 'costs', resource: 'clicks', at: timeColumns.costs, isCopy: true },
  { name: 'pixel_events', resource: 'events', at: timeColumns.pixel_events, isCopy: false },
] as const
type AgedTable = (typeof agedTables)[number]

/** @returns from when the rows of a resource are retained, epoch milliseconds */
export function retainedMsOf(resource: RetainedResource, { clicksMs, eventsMs }: RetainedRanges): number {
  return resource === 'clicks' ? clicksMs : eventsMs
}

/** @returns the condition of the rows of an account before a time */
export function isBefore({ ofAccount }: Writer, { at }: AgedTable, untilMs: number): Fragment {
  return ch`${ofAccount}
  AND ${at} < ${instant(untilMs)}`
}

/** Counts the rows of a table before a time, copies that are not merged included. */
export async function countBefore(writer: Writer, table: AgedTable, untilMs: number): Promise<number> {
  const query = ch`
SELECT count() AS rows
FROM ${identifier(table.name)}
WHERE ${isBefore(writer, table, untilMs)}`
  const [row] = await writer.select<{ rows: number }>('counting rows of removed months', query, 'retention.count')
  return row?.rows ?? 0
}

/** Counts rows of removed months, as after a restore of an earlier backup. */
export async function findUnremovedRows(writer: Writer): Promise<{ table: string; rows: number }[]> {
  const retained = await writer.readRetained()
  const found: { table: string; rows: number }[] = []
  for (const table of agedTables) {
    const untilMs = retainedMsOf(table.resource, retained)
    const rows = untilMs === 0 ? 0 : await countBefore(writer, table, untilMs)
    if (rows > 0) found.push({ table: table.name, rows })
  }
  return found
}

/** When the latest row of the account was stored, epoch milliseconds; 0: the account has no rows. */
export async function readLastStoredMs(writer: Writer): Promise<number> {
  const latestOf = (table: string) =>
    ch`SELECT max(stored_at) AS latest FROM ${identifier(table)} WHERE ${writer.ofAccount}`
  const latest = [...rowTables, 'pixel_events'].map(latestOf)
  const query = ch`
SELECT toUnixTimestamp64Milli(max(latest)) AS lastMs
FROM (${join(latest, '\nUNION ALL\n')})`
  const step = 'reading when the latest row was stored'
  const [row] = await writer.select<{ lastMs: number }>(step, query, 'retention.last_stored')
  return row?.lastMs ?? 0
}
