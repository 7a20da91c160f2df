import { beginsBefore, NotBegun, runOnEveryNode } from '../../stores/clickhouse/insert.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from '../writer.ts'

/**
 * Deletes rows of a table until none is left, on each node by what its own tables hold.
 * @param where which ones, the account first
 * @param label names the statements in ClickHouse's own logs
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function deleteRows(writer: Writer, table: Fragment, where: Fragment, label: string): Promise<void> {
  const { clickhouse } = writer.stores
  const areLeft = async () => {
    const query = ch`SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`
    // Asked for at each use: the embedded engine may come back at another address.
    const { client, cluster } = clickhouse
    for (const { client: reader } of cluster?.nodes ?? [{ client }]) {
      const rows = await selectRows({ reader, onQuery: clickhouse.onQuery }, query, { label, ...batchTimeout })
      if (rows.length > 0) return true
    }
    return false
  }
  const attempt = async () => {
    if (!(await areLeft())) return
    await writer.fence.run(({ deadlineMs, queryId }) => {
      const deletion = ch`DELETE FROM ${table} WHERE ${where} AND ${beginsBefore(deadlineMs)}`
      return runOnEveryNode(clickhouse, deletion, label, queryId)
    })
    // One that began after its deadline has deleted nothing, and ClickHouse does not say so.
    if (await areLeft()) throw new NotBegun()
  }
  await retryWhileUnavailable('deleting wrong rows', attempt, writer)
}
