import { rowTables } from '../../src/query/attributes.ts'
import { sumMetrics } from '../../src/query/metricDefinitions.ts'
import type { Stores } from '../../src/stores/open.ts'
import { sumsTableNames } from '../../src/writer/derived/sumsTables.ts'
import { rowsOf } from '../import/runImport.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { changeTables, startMerges, stopMerges } from '../kit/rows.ts'

/**
 * Options of an import whose statements have unknown outcomes: the account's next statement waits half a second instead of two
 * until no earlier one can begin. On a busy machine a statement that is late is repeated.
 */
export const shortWindow = { statementWindowMs: 500 }

export class ImportKilled extends Error {}

export const clickTables = ['clicks', 'click_index', ...sumsTableNames] as const
export const conversionTables = ['conversions', 'conversion_index', 'converted_clicks', ...sumsTableNames] as const
export const costTables = ['costs', 'cost_index', ...sumsTableNames] as const
export type WrittenTable =
  | (typeof clickTables)[number]
  | (typeof conversionTables)[number]
  | (typeof costTables)[number]

const isOfRows = (table: string) => (rowTables as readonly string[]).includes(table)

type Row = Record<string, string | number | boolean | null>

/**
 * The same stores for a process that is killed at its first insert: all tables but those named here have received the
 * rows, and the batch remains in the journal.
 * @param failure the error of the insert; a process that survives it continues with working stores
 */
export function killedStores(
  stores: Stores,
  accountId: string,
  without: readonly WrittenTable[],
  failure: Error = new ImportKilled(),
): Stores {
  let hasFailed = false
  return interceptClickHouse(stores, async ({ method, text, send }) => {
    if (hasFailed || method !== 'exec' || !text.startsWith('INSERT')) return
    // A merge of the new rows with those that they replace could not be undone.
    const ofRows = without.filter(isOfRows)
    for (const table of ofRows) await stopMerges(stores, table)
    const before = new Map<WrittenTable, Row[]>()
    for (const table of without) before.set(table, await present(stores, accountId, table))
    await send()
    hasFailed = true
    for (const table of without) await undo(stores, accountId, table, before.get(table) ?? [])
    for (const table of ofRows) await startMerges(stores, table)
    // Merges may run before the next read: they remove replaced rows.
    for (const table of ['click_index', 'conversion_index', 'converted_clicks', 'cost_index'])
      await changeTables(stores, `OPTIMIZE TABLE ${table} FINAL`)
    throw failure
  })
}

async function present(stores: Stores, accountId: string, table: WrittenTable): Promise<Row[]> {
  const hasSums = (sumsTableNames as string[]).includes(table)
  const added = sumMetrics.map(({ name }) => `sum(${table}.${name}) AS ${name}`)
  const columns = hasSums ? `* EXCEPT (${sumMetrics.map(({ name }) => name)}), ${added}` : '*'
  const grouping = hasSums ? 'GROUP BY ALL' : ''
  return await rowsOf<Row>(stores, `SELECT ${columns} FROM ${table} WHERE account_id = '${accountId}' ${grouping}`)
}

async function undo(stores: Stores, accountId: string, table: WrittenTable, before: Row[]): Promise<void> {
  if (isOfRows(table)) {
    const key = table === 'clicks' ? ['id'] : ['id', 'version']
    const kept = before.map((row) => `(${key.map((name) => `'${row[name]}'`).join(', ')})`)
    const isNew =
      kept.length > 0 ? `AND (${key.map((name) => `toString(${name})`).join(', ')}) NOT IN (${kept.join(', ')})` : ''
    await changeTables(stores, `DELETE FROM ${table} WHERE account_id = '${accountId}' ${isNew}`)
  } else {
    await changeTables(stores, `ALTER TABLE ${table} DELETE WHERE account_id = '${accountId}'`)
    if (before.length > 0) await stores.clickhouse.client.insert({ table, values: before, format: 'JSONEachRow' })
  }
}
