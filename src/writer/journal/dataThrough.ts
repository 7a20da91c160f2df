import { type RowTable, rowTables } from '../../query/attributes.ts'
import { ch, identifier } from '../../stores/clickhouse/sql.ts'
import { timeColumns } from '../../stores/clickhouse/tableColumns.ts'
import type { WriteSession } from '../fence/session.ts'
import { inAccounts } from '../tables/accountKeys.ts'

/**
 * Computes up to when accounts have rows where that is not recorded: they were migrated, or `verify` has raised the watermark. Their
 * later batches raise it.
 */
export async function fillDataThrough(session: WriteSession, accountIds: readonly string[]): Promise<void> {
  const unknown = await session.sql<{ accountId: string; resource: RowTable }[]>('reading up to when there are rows')`
    SELECT account_id AS "accountId", resource FROM watermarks
    WHERE account_id = ANY(${[...accountIds]}::text[]) AND data_through IS NULL`
  for (const resource of rowTables) {
    const ids = unknown.filter((one) => one.resource === resource).map(({ accountId }) => accountId)
    if (ids.length === 0) continue
    const at = timeColumns[resource]
    const query = ch`
SELECT account_id AS accountId, toUnixTimestamp64Milli(max(${at})) AS throughMs
FROM ${identifier(resource)}
WHERE ${inAccounts(ids)} AND ${at} <= now64(3)
GROUP BY accountId`
    const label = 'rebuild.data_through'
    const rows = await session.select<{ accountId: string; throughMs: number }>('looking for latest rows', query, label)
    const found = new Map(rows.map(({ accountId, throughMs }) => [accountId, new Date(throughMs).toISOString()]))
    await session.change('recording up to when there are rows')`
      recorded AS (
        UPDATE watermarks SET data_through = computed.through_at
        FROM held, unnest(${ids}::text[], ${ids.map((id) => found.get(id) ?? '-infinity')}::timestamptz[]) AS computed (id, through_at)
        WHERE account_id = computed.id AND resource = ${resource} AND data_through IS NULL)`
  }
}
