import { mustBeginBefore, runStatement } from '../../stores/clickhouse/insert.ts'
import { batchTimeout, selectRows } from '../../stores/clickhouse/select.ts'
import { ch, type Fragment, text } from '../../stores/clickhouse/sql.ts'
import { retryWhileUnavailable } from '../../stores/retry.ts'
import { deleteRows } from '../lease/deleteRows.ts'
import type { Writer } from '../lease/writer.ts'

/**
 * Rebuilds `conversion_index` and `converted_clicks` from the account's conversions: deletes wrong rows and inserts missing
 * ones. Conversions are few, so the whole account is compared.
 */
export async function rebuildConversionTables(writer: Writer): Promise<void> {
  for (const derivation of derivations(writer.accountId)) await rebuild(writer, derivation)
}

/** The tables that are derived from an account's conversions. */
export function derivations(accountId: string): Derivation[] {
  const account = ch`account_id = ${text(accountId)}`
  const columns = ch`account_id, clicked_at, click_id, conversion_id, version, is_deleted, is_test, campaign_id, offer_id`
  return [
    {
      name: 'conversion_index',
      table: ch`conversion_index`,
      columns: ch`account_id, id, version, converted_at`,
      key: ch`id`,
      stored: ch`SELECT account_id, id, version, converted_at FROM conversion_index FINAL WHERE ${account}`,
      derived: ch`SELECT account_id, id, version, converted_at FROM conversions FINAL WHERE ${account}`,
      account,
    },
    {
      name: 'converted_clicks',
      table: ch`converted_clicks`,
      columns,
      key: ch`clicked_at, click_id, conversion_id`,
      stored: ch`SELECT ${columns} FROM converted_clicks FINAL WHERE ${account}`,
      derived: ch`
SELECT account_id, assumeNotNull(click_at) AS clicked_at, click_id, id AS conversion_id, version, is_deleted, is_test,
  click_campaign_id AS campaign_id, click_offer_id AS offer_id
FROM conversions FINAL
WHERE ${account} AND click_at IS NOT NULL`,
      account,
    },
  ]
}

/** A table that is derived from the conversions of an account. */
export interface Derivation {
  name: string
  table: Fragment
  columns: Fragment
  /** The sort key without the account. */
  key: Fragment
  /** SELECT of the stored rows, in their latest versions. */
  stored: Fragment
  /** SELECT of the correct rows. */
  derived: Fragment
  account: Fragment
}

/**
 * SELECT of the rows that are missing, wrong or superfluous in a table derived from conversions, with all columns.
 * TRAP: ClickHouse 26.7 cannot run two NOT IN under UNION ALL over the tables of a cluster inside another query.
 */
export function mismatches({ columns, stored, derived }: Derivation): Fragment {
  return ch`
SELECT ${columns}
FROM (
  SELECT ${columns}, true AS is_derived FROM (${derived})
  UNION ALL
  SELECT ${columns}, false AS is_derived FROM (${stored}))
GROUP BY ${columns}
HAVING min(is_derived) = max(is_derived)`
}

async function rebuild(writer: Writer, derivation: Derivation): Promise<void> {
  const { table, columns, key, stored, derived, account } = derivation
  const label = 'rebuild.conversion_tables'
  const wrong = mismatches(derivation)
  const read = () => selectRows(writer.stores.clickhouse, ch`${wrong} LIMIT 1`, { label, ...batchTimeout })
  const [row] = await retryWhileUnavailable('comparing tables derived from conversions', read, writer)
  if (!row) return
  const insert = () =>
    writer.fence.run(({ deadlineMs, queryId }) =>
      runStatement(
        writer.stores.clickhouse,
        ch`
INSERT INTO ${table} (${columns})
SELECT ${columns}
FROM (${derived})
WHERE (${columns}) NOT IN (${stored})
  AND ${mustBeginBefore(deadlineMs)}`,
        label,
        queryId,
      ),
    )
  await retryWhileUnavailable('rebuilding tables derived from conversions', insert, writer)
  // Deleted after the insert, so that an interruption removes no correct row. Where a key is still wrong, a wrong row with
  // a higher version hides the correct one.
  const hiding = ch`${account} AND (${key}) IN (SELECT ${key} FROM (${wrong})) AND (${columns}) NOT IN (${derived})`
  await deleteRows(writer, table, hiding, label)
}
