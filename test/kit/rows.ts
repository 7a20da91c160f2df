import type { NamedTable } from '../../schema/metadata.ts'
import type { Stores } from '../../src/stores/open.ts'
import { testNowMs } from './app.ts'

/** Columns of a row as ClickHouse takes them; what is left out gets the column's default. */
export type StoredRow = Record<string, string | number | boolean | null>

/**
 * Inserts clicks directly, without the importer: for tests of reading.
 * @param rows each with `id` and `clicked_at` (`2026-11-20 10:00:00.000`)
 */
export async function storeClicks({ clickhouse }: Pick<Stores, 'clickhouse'>, accountId: string, rows: StoredRow[]) {
  await clickhouse.client.insert({
    table: 'clicks',
    format: 'JSONEachRow',
    values: rows.map((row) => ({ account_id: accountId, ...row })),
  })
}

/**
 * Inserts conversions directly, without the importer: for tests of reading. As in an import, a later row of an id also
 * inserts the previous row as deleted.
 * @param rows each with `id` and `converted_at`; status approved, version 1 unless given
 */
export async function storeConversions(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  accountId: string,
  rows: StoredRow[],
) {
  const present = new Map<unknown, StoredRow>()
  const values = rows.flatMap((given): StoredRow[] => {
    const row = { account_id: accountId, source: 'cpa', status: 'approved', version: 1, ...given }
    const before = present.get(given.id)
    present.set(given.id, row)
    return before ? [{ ...before, is_deleted: 1 }, row] : [row]
  })
  await clickhouse.client.insert({
    table: 'conversions',
    format: 'JSONEachRow',
    values,
  })
}

/** As imports do, gives a moment of storing to the rows of an account that are put into its tables within an hour. */
export async function giveMoments({ postgres }: Pick<Stores, 'postgres'>, accountId: string): Promise<void> {
  await postgres`
    INSERT INTO watermarks
    SELECT ${accountId}, resource, clock_timestamp() + interval '1 hour'
    FROM unnest(ARRAY['clicks', 'conversions']) AS resource
    ON CONFLICT (account_id, resource) DO UPDATE SET stored_at = excluded.stored_at`
}

/**
 * Puts campaigns, offers, landing pages or traffic sources straight into their table.
 * @param rows each with `id`; named after it, active and made at testNowMs unless given
 */
export async function storeMetadata(
  { postgres }: Pick<Stores, 'postgres'>,
  table: NamedTable,
  accountId: string,
  rows: ({ id: string } & Record<string, string | number | null | Date | string[]>)[],
) {
  for (const row of rows) {
    const made = new Date(testNowMs)
    const { id } = row
    await postgres`
      INSERT INTO ${postgres(table)} ${postgres({
        ...{ account_id: accountId, name: id, status: 'active', created_at: made, updated_at: made },
        ...(table === 'campaigns' && { user_id: accountId }),
        ...row,
      })}`
  }
}

/** Keeps parts of a table from being merged in the background, so that versions of a row stay side by side. */
export async function stopMerges(stores: Pick<Stores, 'clickhouse'>, table: string): Promise<void> {
  const settings = mergeLimits.map((name) => `${name} = 1`)
  await changeTables(stores, `ALTER TABLE ${table} MODIFY SETTING ${settings.join(', ')}`)
}

export async function startMerges(stores: Pick<Stores, 'clickhouse'>, table: string): Promise<void> {
  await changeTables(stores, `ALTER TABLE ${table} RESET SETTING ${mergeLimits.join(', ')}`)
}

/** Bytes that a merge may have, whether many threads are free or few. */
const mergeLimits = ['max_bytes_to_merge_at_max_space_in_pool', 'max_bytes_to_merge_at_min_space_in_pool']

/** Changes or merges rows past the program, on every node where there are several: DELETE, ALTER, OPTIMIZE. */
export async function changeTables({ clickhouse }: Pick<Stores, 'clickhouse'>, query: string): Promise<void> {
  for (const { client } of clickhouse.cluster?.nodes ?? [clickhouse]) {
    await client.command({
      query,
      clickhouse_settings: { mutations_sync: '1', lightweight_deletes_sync: '2' },
    })
  }
}
