import { beginsBefore, NotBegun, runOnEveryNode } from '../../stores/clickhouse/insert.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import type { Writer } from './writer.ts'

type DeletionKind = 'mark' | 'rewrite'

/**
 * Deletes rows of a table until none is left, on every node of a cluster.
 * @param where condition, the account first; evaluated on each node over its own tables
 * @param label label of the statements in ClickHouse's query log
 * @param kind `mark` hides the rows until a merge removes them; `rewrite` removes them from the parts before it returns
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export function deleteRows(
  writer: Writer,
  table: Fragment,
  where: Fragment,
  label: string,
  kind: DeletionKind = 'mark',
): Promise<void> {
  const deletion = kind === 'mark' ? ch`DELETE FROM ${table}` : ch`ALTER TABLE ${table} DELETE`
  return changeRows(writer, table, deletion, where, label)
}

/**
 * Changes rows of a table until none matches, on every node of a cluster.
 * @param change a mutation without its condition
 * @param where as for `deleteRows`; a changed row does not match it
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function changeRows(
  writer: Writer,
  table: Fragment,
  change: Fragment,
  where: Fragment,
  label: string,
): Promise<void> {
  const { clickhouse } = writer.stores
  const remain = async () => {
    const query = ch`SELECT 1 FROM ${table} WHERE ${where} LIMIT 1`
    // Read at each use: a restarted embedded engine may have another address.
    const { client, cluster } = clickhouse
    for (const { client: reader } of cluster?.nodes ?? [{ client }]) {
      const rows = await selectRows({ reader, onQuery: clickhouse.onQuery }, query, { label, ...batchTimeout })
      if (rows.length > 0) return true
    }
    return false
  }
  const attempt = async () => {
    if (!(await remain())) return
    await writer.fence.run(({ deadlineMs, queryId }) => {
      const statement = ch`${change} WHERE ${where} AND ${beginsBefore(deadlineMs)} SETTINGS mutations_sync = 2`
      return runOnEveryNode(clickhouse, statement, label, queryId)
    })
    // A mutation that began after its deadline changes nothing, and ClickHouse reports no error.
    if (await remain()) throw new NotBegun()
  }
  await retryWhileUnavailable('changing rows', attempt, writer)
}
