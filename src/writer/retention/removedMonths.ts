import type { PendingQuery, Row } from 'postgres'
import { ch, type Fragment, storableTimes } from '../../stores/clickhouse/sql.ts'
import type { Postgres } from '../../stores/postgres/connection.ts'
import { rebuildSpan } from '../derived/rebuildDays.ts'
import { actualSums, inSpan, type Span, storedSums, sumsTableNames, sumsTables } from '../derived/sumsTables.ts'
import type { Writer } from '../fence/session.ts'
import { startOfNextMonth } from '../journal/months.ts'

/** A checksum of what is derived from the clicks of a month. */
export type MonthChecksum = {
  /** A sums table or `click_index`. */
  table: string
  /** Its first day, `2026-11-01`. */
  month: string
  checksum: string
}

/**
 * Computes checksums of the sums of clicks and costs, and of the click index, by month. Conversions do not change them.
 * @param span whole UTC months
 * @param source the tables, or what they should have according to the stored clicks
 */
export async function monthChecksums(writer: Writer, span: Span, source: 'tables' | 'clicks' = 'tables') {
  const checksums: MonthChecksum[] = []
  for (const [table, rows] of checkedTables(span, source)) {
    const query = ch`
SELECT toStartOfMonth(at) AS month, concat(toString(count()), '-', hex(groupBitXor(hash))) AS checksum
FROM (${rows})
GROUP BY month
ORDER BY month`
    const step = 'computing checksums of removed months'
    const months = await writer.select<Omit<MonthChecksum, 'table'>>(step, query, 'retention.checksums')
    checksums.push(...months.map((month) => ({ table, ...month })))
  }
  return checksums
}

function checkedTables(span: Span, source: 'tables' | 'clicks'): [string, Fragment][] {
  const sumsOf = source === 'tables' ? storedSums : actualSums
  const ofSums = sumsTableNames.map((name): [string, Fragment] => {
    const { keys, at } = sumsTables[name]
    return [
      name,
      ch`
SELECT ${at} AS at, sipHash64(${keys}, sum(clicks) AS of_clicks, sum(cost) AS of_cost) AS hash
FROM (${sumsOf(name, span)})
GROUP BY ${keys}
HAVING of_clicks != 0 OR of_cost != 0`,
    ]
  })
  const ofIndex = ch`
SELECT clicked_at AS at, sipHash64(id, clicked_at, campaign_id) AS hash
FROM ${source === 'tables' ? ch`click_index` : ch`clicks`} FINAL
WHERE ${inSpan(span)}`
  return [...ofSums, ['click_index', ofIndex]]
}

/** WITH clause that stores checksums; months that are known keep theirs. @param from clauses with a row if they may be stored */
export function recordChecksums(
  { accountId }: Writer,
  postgres: Postgres,
  checksums: readonly MonthChecksum[],
  from: PendingQuery<Row[]>,
): PendingQuery<Row[]> {
  return postgres`checksums AS (
    INSERT INTO removed_months (account_id, table_name, month, checksum)
    SELECT ${accountId}::text, computed.table, computed.month, computed.checksum
    FROM ${from}, jsonb_to_recordset(${postgres.json(checksums)}) AS computed ("table" text, month date, checksum text)
    ON CONFLICT DO NOTHING)`
}

/** @param source as of `monthChecksums` @returns the tables and months that have other checksums than the recorded ones */
export async function findChangedMonths(writer: Writer, source?: 'tables' | 'clicks') {
  const { clicksMs } = await writer.readRetained()
  if (clicksMs === 0) return []
  const span = { accountIds: [writer.accountId], fromMs: storableTimes.fromMs, untilMs: clicksMs }
  const present = writer.stores.postgres.json(await monthChecksums(writer, span, source))
  return await writer.sql<Pick<MonthChecksum, 'table' | 'month'>[]>('comparing the checksums of removed months')`
    SELECT "table", to_char(month, 'YYYY-MM-DD') AS month
    FROM (
      SELECT table_name AS "table", month, checksum FROM removed_months WHERE account_id = ${writer.accountId}
    ) AS recorded
    FULL JOIN jsonb_to_recordset(${present}) AS present ("table" text, month date, checksum text) USING ("table", month)
    WHERE recorded.checksum IS DISTINCT FROM present.checksum
    ORDER BY month, "table"`
}

/**
 * Rebuilds sums and index of changed months from restored clicks, if these are all clicks of the month: they give what was
 * recorded. Call it before the clicks are removed again. Idempotent.
 */
export async function rebuildRestoredMonths(writer: Writer): Promise<void> {
  const changed = new Set((await findChangedMonths(writer)).map(({ month }) => month))
  if (changed.size === 0) return
  const incomplete = new Set((await findChangedMonths(writer, 'clicks')).map(({ month }) => month))
  for (const month of changed) {
    if (incomplete.has(month)) continue
    const span = { accountIds: [writer.accountId], fromMs: Date.parse(month), untilMs: startOfNextMonth(month) }
    await rebuildSpan(writer, span, 'clicks')
  }
}
