import { type RowTable, rowTables } from '../../query/attributes.ts'
import { ch, identifier, instant, storableTimes } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import { startOfUtcMonth } from '../../stores/timing/utcMonth.ts'
import type { Writer, WriteSession } from '../fence/session.ts'
import { accountsOf, inAccounts } from '../tables/accountKeys.ts'
import { type Extent, type MonthlyRows, monthOf } from './months.ts'

type RowsOfAccount = MonthlyRows & { accountId: string }

/**
 * Stored rows of a month: the latest of their times that is not in the future, the earliest that is (each 0 if there is none), and the
 * latest of their `stored_at`; epoch milliseconds.
 */
export type CountedRows = RowsOfAccount & { resource: RowTable; throughMs: number; aheadMs: number; storedMs: number }

/** Counts the rows of accounts in ClickHouse in their latest version, by UTC month. @param range in the months of these times, epoch milliseconds */
export async function countRows(
  session: WriteSession,
  accountIds: readonly string[],
  resource: RowTable,
  { firstMs, lastMs } = { firstMs: storableTimes.fromMs, lastMs: storableTimes.untilMs - 1 },
): Promise<CountedRows[]> {
  const at = timeColumns[resource]
  const query = ch`
SELECT account_id AS accountId, toStartOfMonth(${at}) AS month, count() AS rows,
  toUnixTimestamp64Milli(maxIf(${at}, ${at} <= now64(3))) AS throughMs,
  toUnixTimestamp64Milli(minIf(${at}, ${at} > now64(3))) AS aheadMs, toUnixTimestamp64Milli(max(stored_at)) AS storedMs
FROM ${identifier(resource)} FINAL
WHERE ${inAccounts(accountIds)}
  AND ${at} >= ${instant(startOfUtcMonth(firstMs))}
  AND ${at} < ${instant(startOfUtcMonth(lastMs, 1))}
GROUP BY accountId, month
ORDER BY accountId, month`
  const counted = await session.select<Omit<CountedRows, 'resource'>>('counting rows', query, 'count_rows')
  return counted.map((row) => ({ resource, ...row }))
}

/** Counts the rows in ClickHouse in the months of the rows of batches, perhaps also in months between them. */
export async function countRowsOf(
  session: WriteSession,
  batches: readonly (Extent & { accountId: string; resource: RowTable })[],
): Promise<CountedRows[]> {
  const counts: CountedRows[] = []
  for (const resource of rowTables) {
    // Batches without new rows can be of the day 1970-01-01; a change within a month adds no rows to it.
    const changing = batches.filter(
      (batch) => batch.resource === resource && (batch.added.length > 0 || typeof batch.throughMs === 'number'),
    )
    if (changing.length > 0)
      counts.push(...(await countRows(session, accountsOf(changing), resource, rangeOf(changing))))
  }
  return counts
}

/** @returns the first and the last time of several ranges, at least one */
const rangeOf = (ranges: readonly Pick<Extent, 'firstMs' | 'lastMs'>[]) => ({
  firstMs: Math.min(...ranges.map(({ firstMs }) => firstMs)),
  lastMs: Math.max(...ranges.map(({ lastMs }) => lastMs)),
})

/** @returns confirmed rows of accounts by UTC month, in order; months without rows may be missing */
export async function readConfirmedRows(session: WriteSession, accountIds: readonly string[], resource: RowTable) {
  return await session.sql<RowsOfAccount[]>('reading the counts of confirmed rows')`
    SELECT account_id AS "accountId", to_char(month, 'YYYY-MM-DD') AS month, rows::float8 AS rows
    FROM stored_rows
    WHERE account_id = ANY(${[...accountIds]}::text[]) AND resource = ${resource}
    ORDER BY account_id, month`
}

/** Replaces the counts of confirmed rows of some months. @throws LeaseLost */
export async function setConfirmedRows(writer: Writer, resource: RowTable, counts: readonly MonthlyRows[]) {
  if (counts.length === 0) return
  await writer.change('recording the counts of rows')`
    recorded AS (
      INSERT INTO stored_rows (account_id, resource, month, rows)
      SELECT ${writer.accountId}::text, ${resource}::text, counted.month, counted.rows
      FROM held, jsonb_to_recordset(${writer.stores.postgres.json(counts)}) AS counted (month date, rows bigint)
      ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = excluded.rows)`
}

export type MissingRows = { table: RowTable; month: string; confirmed: number; stored: number }

/** Finds retained months with fewer rows than were confirmed. Raises the count of months that have more, as after a restore. */
export async function raiseCountsAndFindMissing(writer: Writer): Promise<MissingRows[]> {
  const missing: MissingRows[] = []
  for (const resource of rowTables) {
    const retainedMs = resource === 'conversions' ? 0 : (await writer.readRetained()).clicksMs
    const isRetained = ({ month }: MonthlyRows) => Date.parse(month) >= retainedMs
    const confirmed = (await readConfirmedRows(writer, [writer.accountId], resource)).filter(isRetained)
    const stored = (await countRows(writer, [writer.accountId], resource)).filter(isRetained)
    const uncounted = stored.filter(({ month, rows }) => rows > rowsIn(confirmed, month))
    await setConfirmedRows(writer, resource, uncounted)
    for (const { month, rows } of confirmed) {
      const found = rowsIn(stored, month)
      if (found < rows) missing.push({ table: resource, month, confirmed: rows, stored: found })
    }
  }
  return missing
}

const rowsIn = (counts: readonly MonthlyRows[], month: string) => counts.find((one) => one.month === month)?.rows ?? 0

/**
 * Months with confirmed clicks where none is left, between the first and the last time of batches; also removed months.
 * @returns first days of months by account; accounts without such months are absent
 */
export async function monthsWithoutClicks(
  session: WriteSession,
  batches: readonly (Extent & { accountId: string })[],
): Promise<Map<string, Set<string>>> {
  const lacking = new Map<string, Set<string>>()
  const range = rangeOf(batches)
  const [first, last] = [monthOf(range.firstMs), monthOf(range.lastMs)]
  const confirmed = (await readConfirmedRows(session, accountsOf(batches), 'clicks')).filter(
    ({ month, rows }) => rows > 0 && month >= first && month <= last,
  )
  if (confirmed.length === 0) return lacking
  const counted = await countRows(session, accountsOf(confirmed), 'clicks', range)
  const stored = new Set(counted.map(({ accountId, month }) => `${accountId} ${month}`))
  for (const { accountId, month } of confirmed) {
    if (stored.has(`${accountId} ${month}`)) continue
    lacking.set(accountId, (lacking.get(accountId) ?? new Set()).add(month))
  }
  return lacking
}
