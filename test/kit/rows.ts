import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouseSettings } from '@clickhouse/client'
import type { NamedTable } from '../../schema/metadata.ts'
import { searchedTables, searchTextOf } from '../../src/query/searchText.ts'
import { type Fragment, render } from '../../src/stores/clickhouse/sql.ts'
import type { Stores } from '../../src/stores/open.ts'
import { testNowMs } from './app.ts'
import { mergeLimits } from './stores.ts'

/** Columns of a row of ClickHouse; omitted columns get their default. */
export type StoredRow = Record<string, string | number | boolean | null>

export async function storeEvents({ clickhouse }: Pick<Stores, 'clickhouse'>, accountId: string, rows: StoredRow[]) {
  const values = rows.map((row) => ({ account_id: accountId, origin: 'server', event_name: 'visit', ...row }))
  await clickhouse.client.insert({
    table: 'pixel_events',
    values: values.map((row: StoredRow) => ({ received_at: row.occurred_at ?? null, ...row })),
    format: 'JSONEachRow',
  })
}

/** Inserts clicks directly, without the importer. @param rows each with `id` and `clicked_at` (`2026-11-20 10:00:00.000`) */
export async function storeClicks({ clickhouse }: Pick<Stores, 'clickhouse'>, accountId: string, rows: StoredRow[]) {
  await clickhouse.client.insert({
    table: 'clicks',
    format: 'JSONEachRow',
    values: rows.map((row) => ({ account_id: accountId, ...row })),
  })
}

/**
 * Inserts clicks with the ids 0, 1, … at each second of 2026: by default more bytes than the buffers between the store and a
 * stalled reader hold.
 * @param bytes of each click
 */
export async function storeLargeClicks(
  { clickhouse }: Pick<Stores, 'clickhouse'>,
  accountId: string,
  rows = 10_000,
  bytes = 4_000,
) {
  await clickhouse.client.command({
    query: `
      INSERT INTO clicks (account_id, clicked_at, id, referrer)
      SELECT '${accountId}', toDateTime64('2026-01-01 00:00:00', 3, 'UTC') + number, toString(number), repeat('x', ${bytes})
      FROM numbers(${rows})`,
  })
}

/**
 * Inserts conversions directly, without the importer. As in an import, a later row of an id also
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
  await clickhouse.client.insert({ table: 'conversions', format: 'JSONEachRow', values })
}

/** Inserts costs directly, without the importer. @param rows each with `id` and `spent_at`; cost 1 and version 1 unless given */
export async function storeCosts({ clickhouse }: Pick<Stores, 'clickhouse'>, accountId: string, rows: StoredRow[]) {
  await clickhouse.client.insert({
    table: 'costs',
    format: 'JSONEachRow',
    values: rows.map((row) => ({ account_id: accountId, version: 1, cost: 1, cost_base: 1, currency: 'USD', ...row })),
  })
}

/** Sets the watermarks of an account an hour ahead, so that reads include rows that are inserted directly. */
export async function advanceWatermarks({ postgres }: Pick<Stores, 'postgres'>, accountId: string): Promise<void> {
  await postgres`
    INSERT INTO watermarks
    SELECT ${accountId}, resource, clock_timestamp() + interval '1 hour'
    FROM unnest(ARRAY['clicks', 'conversions', 'costs']) AS resource
    ON CONFLICT (account_id, resource) DO UPDATE SET stored_at = excluded.stored_at`
}

/**
 * Inserts campaigns, offers, landing pages or traffic sources directly.
 * @param rows each with `id`; by default the name is the id, the status active and both times testNowMs
 */
export async function storeMetadata(
  { postgres }: Pick<Stores, 'postgres'>,
  table: NamedTable,
  accountId: string,
  rows: (Record<string, string | number | null | Date | string[]> & {
    id: string
    name?: string
    status?: string
    tags?: string[]
  })[],
) {
  for (const row of rows) {
    const createdAt = new Date(testNowMs)
    const { id, name = id, status = 'active', tags } = row
    const isSearched = (searchedTables as readonly NamedTable[]).includes(table)
    await postgres`
      INSERT INTO ${postgres(table)} ${postgres({
        account_id: accountId,
        name,
        status,
        created_at: createdAt,
        updated_at: createdAt,
        ...(table === 'campaigns' && { user_id: accountId }),
        ...(isSearched && { search_text: searchTextOf({ id, name, status, tags }) }),
        ...row,
      })}`
  }
}

/** Stops background merges of tables until the end of the file, so that versions of a row stay unmerged. */
export async function stopMerges(stores: Pick<Stores, 'clickhouse'>, ...tables: string[]): Promise<void> {
  const settings = mergeLimits.map((name) => `${name} = 1`)
  for (const table of tables) await changeTables(stores, `ALTER TABLE ${table} MODIFY SETTING ${settings.join(', ')}`)
}

export async function startMerges(stores: Pick<Stores, 'clickhouse'>, table: string): Promise<void> {
  await changeTables(stores, `ALTER TABLE ${table} RESET SETTING ${mergeLimits.join(', ')}`)
}

/** Merges all parts of tables once; later parts stay unmerged. */
export async function mergeParts(stores: Pick<Stores, 'clickhouse'>, ...tables: string[]): Promise<void> {
  for (const table of tables) {
    await startMerges(stores, table)
    await changeTables(stores, `OPTIMIZE TABLE ${table} FINAL`)
    await stopMerges(stores, table)
  }
}

/**
 * Runs DELETE, ALTER or OPTIMIZE directly, on every node of a cluster. Of replicas one runs it and the other follows, except for
 * settings and names, which each has for itself.
 * @throws Error for an INSERT, whose rows each node would store, and for SYSTEM without a table, which changes the databases of
 *   other test files on the same server
 */
export async function changeTables({ clickhouse }: Pick<Stores, 'clickhouse'>, query: string): Promise<void> {
  if (/^\s*(INSERT|SYSTEM)\b/.test(query)) throw new Error(`not a statement for every node: ${query}`)
  const { cluster } = clickhouse
  const isFollowed = cluster?.isReplicated && !/\b(MODIFY|RESET) SETTING\b|^\s*RENAME\b/.test(query)
  const nodes = cluster?.nodes.filter(
    ({ shard }, index, all) => !isFollowed || all.findIndex((one) => one.shard === shard) === index,
  )
  for (const { client } of nodes ?? [clickhouse]) {
    await client.command({
      query,
      clickhouse_settings: { mutations_sync: '2', alter_sync: '2', lightweight_deletes_sync: '2' },
    })
  }
}

/** Explains a statement of the program. @param options of EXPLAIN */
export async function explain(
  client: Stores['clickhouse']['client'],
  options: string,
  sql: Fragment,
  clickhouse_settings: ClickHouseSettings = {},
): Promise<string> {
  const { text, params } = render(sql)
  const query = `EXPLAIN ${options} ${text}`
  return await (
    await client.query({ query, query_params: params, format: 'TabSeparatedRaw', clickhouse_settings })
  ).text()
}

/** Runs a SELECT on the local tables of every node: `system` tables, plans. @returns the rows of all nodes, node by node */
export async function rowsOfEveryNode<Row>({ clickhouse }: Pick<Stores, 'clickhouse'>, query: string): Promise<Row[]> {
  const rows: Row[] = []
  for (const { client } of clickhouse.cluster?.nodes ?? [clickhouse])
    rows.push(...(await (await client.query({ query, format: 'JSONEachRow' })).json<Row>()))
  return rows
}

/**
 * Lists the running queries of these stores with a label, such as `clicks.export`. Test files share the servers, and a node of a
 * cluster also lists the parts of queries of other nodes.
 */
export async function runningQueries({ clickhouse }: Pick<Stores, 'clickhouse'>, label: string) {
  const result = await clickhouse.client.query({
    query: `
      SELECT query_id AS queryId FROM system.processes
      WHERE is_initial_query AND current_database = {database:String} AND Settings['log_comment'] = {label:String}`,
    query_params: { database: clickhouse.database, label },
    format: 'JSONEachRow',
  })
  return await result.json<{ queryId: string }>()
}

/**
 * Ends a query.
 * @param read is called until the query has ended. TRAP: a query that waits for its reader delays the KILL until its block is read, so
 *   `read` reads, but so slowly that all rows take longer than a block: of 1 MB, or on a cluster of all rows of the other nodes
 */
export async function killQuery({ clickhouse }: Pick<Stores, 'clickhouse'>, queryId: string, read: () => unknown) {
  let isEnded = false
  const query = `KILL QUERY WHERE query_id = '${queryId}' ASYNC`
  const killing = clickhouse.client.command({ query }).finally(() => {
    isEnded = true
  })
  for (; !isEnded; await pause(5)) read()
  await killing
}
