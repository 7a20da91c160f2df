import type { Stores } from '../../src/stores/open.ts'

/** Columns of a row as ClickHouse takes them; what is left out gets the column's default. */
export type StoredRow = Record<string, string | number | boolean | null>

/**
 * Puts clicks straight into the table, past the importer: for tests of reading.
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
 * Puts conversions straight into the table, past the importer: for tests of reading.
 * @param rows each with `id` and `converted_at`; status approved, version 1 unless given
 */
export async function storeConversions(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  accountId: string,
  rows: StoredRow[],
) {
  await clickhouse.client.insert({
    table: 'conversions',
    format: 'JSONEachRow',
    values: rows.map((row) => ({ account_id: accountId, source: 'cpa', status: 'approved', version: 1, ...row })),
  })
}
