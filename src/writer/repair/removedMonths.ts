import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, instant, storableTimes, text } from '../../stores/clickhouse/sql.ts'
import { queryPostgres } from '../../stores/postgres/connection.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { readRetained } from '../retention/readRetained.ts'
import type { Writer } from '../writer.ts'
import { type Span, storedSums, sumsTableNames, sumsTables } from './sumsTables.ts'

/** A checksum of what is derived from the clicks of a month. */
export interface MonthChecksum {
  /** A sums table or `click_index`. */
  table: string
  /** Its first day, `2026-11-01`. */
  month: string
  checksum: string
}

/** Memory for grouping by all keys, in bytes; beyond it ClickHouse uses the disk. */
const groupingMemory = `${256 << 20}`

/**
 * Computes the checksums of each month that has clicks, one for each sums table, over clicks and costs, and one for the click
 * index. Conversions do not change them.
 * @param span whole UTC months
 */
export async function checksumsOf(writer: Writer, span: Span): Promise<MonthChecksum[]> {
  const checksums: MonthChecksum[] = []
  for (const [table, rows] of checkedTables(span)) {
    const query = ch`
SELECT toStartOfMonth(at) AS month, concat(toString(count()), '-', hex(groupBitXor(hash))) AS checksum
FROM (${rows})
GROUP BY month
ORDER BY month`
    const settings = { ...batchTimeout.settings, max_bytes_before_external_group_by: groupingMemory }
    const read = () =>
      selectRows<{ month: string; checksum: string }>(writer.stores.clickhouse, query, {
        ...{ label: 'retention.checksums', signal: writer.signal, settings },
      })
    const months = await retryWhileUnavailable('computing checksums of removed months', read, writer)
    checksums.push(...months.map((month) => ({ table, ...month })))
  }
  return checksums
}

/** The rows of each table that are compared: their time and hash. */
function checkedTables(span: Span): [string, Fragment][] {
  const ofSums = sumsTableNames.map((name): [string, Fragment] => {
    const { keys, at } = sumsTables[name]
    return [
      name,
      ch`
SELECT ${at} AS at, sipHash64(${keys}, sum(clicks) AS of_clicks, sum(cost) AS of_cost) AS hash
FROM (${storedSums(name, span)})
GROUP BY ${keys}
HAVING of_clicks != 0 OR of_cost != 0`,
    ]
  })
  const ofIndex = ch`
SELECT clicked_at AS at, sipHash64(id, clicked_at, campaign_id) AS hash
FROM click_index FINAL
WHERE account_id = ${text(span.accountId)}
  AND clicked_at >= ${instant(span.fromMs)}
  AND clicked_at < ${instant(span.untilMs)}`
  return [...ofSums, ['click_index', ofIndex]]
}

/** Finds what has changed since the clicks of a month were removed. */
export async function findChangedMonths(writer: Writer): Promise<{ table: string; month: string }[]> {
  const { stores, accountId } = writer
  const { clicksMs } = await readRetained(writer)
  if (clicksMs === 0) return []
  const recorded = await retryWhileUnavailable(
    'reading the checksums of removed months',
    () =>
      queryPostgres(stores.postgres<MonthChecksum[]>`
        SELECT table_name AS table, to_char(month, 'YYYY-MM-DD') AS month, checksum
        FROM removed_months
        WHERE account_id = ${accountId}`),
    writer,
  )
  const present = await checksumsOf(writer, { accountId, fromMs: storableTimes.fromMs, untilMs: clicksMs })
  const nameOf = ({ table, month }: MonthChecksum) => `${month} ${table}`
  const expected = new Map(recorded.map((row) => [nameOf(row), row.checksum]))
  const found = new Map(present.map((row) => [nameOf(row), row.checksum]))
  return [...new Map([...recorded, ...present].map((row) => [nameOf(row), row]))]
    .filter(([name]) => expected.get(name) !== found.get(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { table, month }]) => ({ table, month }))
}
