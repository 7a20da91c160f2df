import { ch, identifier, instant, storableTimes } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { Writer } from '../fence/writer.ts'
import { type MonthlyRows, monthOf, startOfNextMonth } from './months.ts'

/** Resources that are counted by month: distinct clicks, and conversions in their latest version. */
export type CountedResource = 'clicks' | 'conversions'

/** Counts the rows in ClickHouse, by UTC month. @param range epoch milliseconds, `until` exclusive; whole months */
async function countRows(
  writer: Writer,
  resource: CountedResource,
  { fromMs, untilMs } = storableTimes,
): Promise<MonthlyRows[]> {
  const at = timeColumns[resource]
  const query = ch`
SELECT toStartOfMonth(${at}) AS month, count() AS rows
FROM ${identifier(resource)} FINAL
WHERE ${writer.ofAccount}
  AND ${at} >= ${instant(fromMs)}
  AND ${at} < ${instant(untilMs)}
GROUP BY month
ORDER BY month`
  return await writer.select('counting rows', query, 'count_rows')
}

/** Counts the rows in ClickHouse in the months that batches change, perhaps also in months between them. */
export async function countRowsOf(
  writer: Writer,
  batches: readonly { resource: CountedResource; added: readonly MonthlyRows[] }[],
): Promise<(MonthlyRows & { resource: CountedResource })[]> {
  const counts: (MonthlyRows & { resource: CountedResource })[] = []
  for (const resource of ['clicks', 'conversions'] as const) {
    const ofResource = batches.filter((batch) => batch.resource === resource)
    const months = ofResource.flatMap(({ added }) => added.map(({ month }) => month)).sort()
    const [first, last] = [months[0], months.at(-1)]
    if (first === undefined || last === undefined) continue
    const range = { fromMs: Date.parse(first), untilMs: startOfNextMonth(last) }
    for (const counted of await countRows(writer, resource, range)) counts.push({ resource, ...counted })
  }
  return counts
}

/** @returns confirmed rows by UTC month, in order; months without rows may be missing */
export async function readConfirmedRows(writer: Writer, resource: CountedResource): Promise<MonthlyRows[]> {
  return await writer.sql<MonthlyRows[]>('reading the counts of confirmed rows')`
    SELECT to_char(month, 'YYYY-MM-DD') AS month, rows::float8 AS rows
    FROM stored_rows
    WHERE account_id = ${writer.accountId} AND resource = ${resource}
    ORDER BY month`
}

/** Replaces the counts of confirmed rows of some months. @throws LeaseLost */
export async function setConfirmedRows(
  writer: Writer,
  resource: CountedResource,
  counts: readonly MonthlyRows[],
): Promise<void> {
  if (counts.length === 0) return
  await writer.change('recording the counts of rows')`
    recorded AS (
      INSERT INTO stored_rows (account_id, resource, month, rows)
      SELECT ${writer.accountId}::text, ${resource}::text, counted.month, counted.rows
      FROM held, unnest(
        ${counts.map(({ month }) => month)}::date[], ${counts.map(({ rows }) => rows)}::bigint[]
      ) AS counted (month, rows)
      ON CONFLICT (account_id, resource, month) DO UPDATE SET rows = excluded.rows)`
}

export interface MissingRows {
  table: CountedResource
  month: string
  confirmed: number
  stored: number
}

/** Finds retained months with fewer rows than were confirmed. Raises the count of months that have more, as after a restore. */
export async function raiseCountsAndFindMissing(writer: Writer): Promise<MissingRows[]> {
  const missing: MissingRows[] = []
  for (const resource of ['clicks', 'conversions'] as const) {
    const retainedMs = resource === 'clicks' ? (await writer.readRetained()).clicksMs : 0
    const retained = ({ month }: MonthlyRows) => Date.parse(month) >= retainedMs
    const byMonth = (counts: MonthlyRows[]) => new Map(counts.filter(retained).map(({ month, rows }) => [month, rows]))
    const confirmed = byMonth(await readConfirmedRows(writer, resource))
    const stored = byMonth(await countRows(writer, resource))
    const uncounted = [...stored].filter(([month, rows]) => rows > (confirmed.get(month) ?? 0))
    await setConfirmedRows(
      writer,
      resource,
      uncounted.map(([month, rows]) => ({ month, rows })),
    )
    for (const [month, rows] of confirmed) {
      const found = stored.get(month) ?? 0
      if (found < rows) missing.push({ table: resource, month, confirmed: rows, stored: found })
    }
  }
  return missing
}

/** Months with confirmed clicks where none is left; also removed months. @param range epoch milliseconds, `until` exclusive */
export async function monthsWithoutClicks(
  writer: Writer,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<Set<string>> {
  const whole = { fromMs: Date.parse(monthOf(fromMs)), untilMs: startOfNextMonth(monthOf(untilMs - 1)) }
  const confirmed = (await readConfirmedRows(writer, 'clicks')).filter(
    ({ month, rows }) => rows > 0 && Date.parse(month) >= whole.fromMs && Date.parse(month) < whole.untilMs,
  )
  if (confirmed.length === 0) return new Set()
  const stored = new Set((await countRows(writer, 'clicks', whole)).map(({ month }) => month))
  return new Set(confirmed.map(({ month }) => month).filter((month) => !stored.has(month)))
}
