import { ch, identifier } from '../stores/clickhouse/sql.ts'
import { deleteRows } from './fence/mutations.ts'
import type { Writer } from './fence/session.ts'

/**
 * Deletes every row of the account from ClickHouse. The parts are rewritten before it returns; the files of the old parts are
 * removed after `old_parts_lifetime` of their table (a second with personal data, else eight minutes), in an idle table up to
 * ten minutes later. Repeat it after an interruption.
 */
export async function deleteAccountRows(writer: Writer): Promise<void> {
  const query = ch`
SELECT name FROM system.tables
WHERE database = currentDatabase() AND endsWith(engine, 'MergeTree') AND name != 'schema_migrations'
ORDER BY name`
  const tables = await writer.selectOnEveryNode<{ name: string }>('reading the tables', query, 'delete_account')
  for (const name of new Set(tables.map((table) => table.name))) {
    await deleteRows(writer, identifier(name), writer.ofAccount, 'delete_account', 'rewrite')
  }
}
