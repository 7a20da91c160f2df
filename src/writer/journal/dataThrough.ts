import { type RowTable, rowTables } from '../../query/attributes.ts'
import { ch, identifier } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { WriteSession } from '../fence/session.ts'
import { inAccounts } from '../tables/accountKeys.ts'

/** Computes up to when migrated accounts have rows, and when the last one was stored. Their later batches raise both. */
export async function fillDataThrough(session: WriteSession, accountIds: readonly string[]): Promise<void> {
  const unknown = await session.sql<{ accountId: string; resource: RowTable }[]>('reading up to when there are rows')`
    SELECT account_id AS "accountId", resource FROM watermarks
    WHERE account_id = ANY(${[...accountIds]}::text[]) AND data_through IS NULL`
  for (const resource of rowTables) {
    const ids = unknown.filter((one) => one.resource === resource).map(({ accountId }) => accountId)
    if (ids.length === 0) continue
    const latest = new Map((await readLatestRows(session, resource, ids)).map((row) => [row.accountId, row]))
    await session.change('recording up to when there are rows')`
      recorded AS (
        UPDATE watermarks SET
          data_through = computed.through_at::timestamptz, last_row_at = greatest(last_row_at, computed.stored_at)
        FROM held, unnest(
          ${ids}::text[], ${ids.map((id) => latest.get(id)?.throughAt ?? '-infinity')}::text[],
          ${ids.map((id) => latest.get(id)?.storedAt ?? null)}::timestamptz[]
        ) AS computed (id, through_at, stored_at)
        WHERE account_id = computed.id AND resource = ${resource} AND data_through IS NULL)`
  }
}

/** @returns of accounts with rows of a resource the latest time that is not in the future, and when the last row was stored, for Postgres */
export async function readLatestRows(session: WriteSession, resource: RowTable, accountIds: readonly string[]) {
  const at = timeColumns[resource]
  const query = ch`
SELECT account_id AS accountId, countIf(${at} <= now64(3)) AS past,
  toUnixTimestamp64Milli(maxIf(${at}, ${at} <= now64(3))) AS throughMs, toUnixTimestamp64Milli(max(stored_at)) AS storedMs
FROM ${identifier(resource)}
WHERE ${inAccounts(accountIds)}
GROUP BY accountId`
  type Row = { accountId: string; past: number; throughMs: number; storedMs: number }
  const rows = await session.select<Row>('looking for latest rows', query, 'rebuild.data_through')
  // TRAP: the driver makes a Date of a `timestamptz`, which fails for `-infinity`: send it as text.
  return rows.map(({ accountId, past, throughMs, storedMs }) => ({
    accountId,
    throughAt: past === 0 ? '-infinity' : new Date(throughMs).toISOString(),
    storedAt: new Date(storedMs).toISOString(),
  }))
}
