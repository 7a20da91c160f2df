import { tablesOf } from '../stores/clickhouse/distributedTables.ts'
import { asProblem } from '../stores/clickhouse/select.ts'
import { ch, identifier, text } from '../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../stores/retry.ts'
import { deleteRows } from './lease/deleteRows.ts'
import type { Writer } from './lease/writer.ts'

/**
 * Deletes every row of the account from ClickHouse: clicks, conversions, events, indexes and sums. The parts are rewritten
 * before it returns; ClickHouse removes the files of the old parts after `old_parts_lifetime` of their table (one second with
 * personal data, else eight minutes), in an idle table up to ten minutes later. Repeat it after an interruption.
 * @throws LeaseLost, or the last error when ClickHouse stays unavailable
 */
export async function deleteAccountRows(writer: Writer): Promise<void> {
  const readTables = async () => {
    const { client, cluster, database } = writer.stores.clickhouse
    const [node] = cluster?.nodes ?? []
    try {
      return await tablesOf(node?.client ?? client, cluster?.localDatabase ?? database)
    } catch (error) {
      throw asProblem(error)
    }
  }
  for (const { name, engine } of await retryWhileUnavailable('reading the tables', readTables, writer)) {
    if (!engine.endsWith('MergeTree') || name === 'schema_migrations') continue
    writer.signal.throwIfAborted()
    const where = ch`account_id = ${text(writer.accountId)}`
    await deleteRows(writer, identifier(name), where, 'delete_account', 'rewrite')
  }
}
