import { tablesOf } from '../stores/clickhouse/distributedTables.ts'
import { asProblem } from '../stores/clickhouse/select.ts'
import { identifier } from '../stores/clickhouse/sql.ts'
import type { Writer } from './lease/writer.ts'

/**
 * Deletes every row of the account from ClickHouse. The parts are rewritten before it returns; the files of the old parts are
 * removed after `old_parts_lifetime` of their table (a second with personal data, else eight minutes), in an idle table up to
 * ten minutes later. Repeat it after an interruption.
 */
export async function deleteAccountRows(writer: Writer): Promise<void> {
  const tables = await writer.retry('reading the tables', async () => {
    const { client, cluster, database } = writer.stores.clickhouse
    const [node] = cluster?.nodes ?? []
    try {
      return await tablesOf(node?.client ?? client, cluster?.localDatabase ?? database)
    } catch (error) {
      throw asProblem(error)
    }
  })
  for (const { name, engine } of tables) {
    if (!engine.endsWith('MergeTree') || name === 'schema_migrations') continue
    await writer.deleteRows(identifier(name), writer.ofAccount, 'delete_account', 'rewrite')
  }
}
