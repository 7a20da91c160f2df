import { sums } from '../../src/query/metricDefinitions.ts'
import type { Stores } from '../../src/stores/open.ts'
import { sumsTableNames } from '../../src/writer/derived/sumsTables.ts'
import { rowsOf } from '../import/runImport.ts'
import { changeTables, startMerges, stopMerges } from '../kit/rows.ts'

/**
 * Options of an import whose statements have unknown outcomes: the account's next statement waits half a second instead of two
 * until no earlier one can begin. On a busy machine a statement that is late is repeated.
 */
export const shortWindow = { statementWindowMs: 500 }

/** The error that ends a killed import. */
export class ImportKilled extends Error {}

export const clickTables = ['clicks', 'click_index', ...sumsTableNames] as const
export const conversionTables = ['conversions', 'conversion_index', 'converted_clicks', ...sumsTableNames] as const
export type WrittenTable = (typeof clickTables)[number] | (typeof conversionTables)[number]

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
  const { client } = stores.clickhouse
  let hasFailed = false
  const killed = new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'exec') return typeof value === 'function' ? value.bind(target) : value
      return async (order: Parameters<typeof client.exec>[0]) => {
        if (hasFailed || !order.query.startsWith('INSERT')) return await client.exec(order)
        // A merge of the new rows with those that they replace could not be undone.
        const rowTables = without.filter((table) => table === 'clicks' || table === 'conversions')
        for (const table of rowTables) await stopMerges(stores, table)
        const before = new Map<WrittenTable, Row[]>()
        for (const table of without) before.set(table, await present(stores, accountId, table))
        const response = await client.exec(order)
        hasFailed = true
        response.stream.resume()
        for (const table of without) await undo(stores, accountId, table, before.get(table) ?? [])
        for (const table of rowTables) await startMerges(stores, table)
        // Merges may run before the next read: they remove replaced rows.
        for (const table of ['click_index', 'conversion_index', 'converted_clicks']) {
          await changeTables(stores, `OPTIMIZE TABLE ${table} FINAL`)
        }
        throw failure
      }
    },
  })
  return { ...stores, clickhouse: { ...stores.clickhouse, client: killed } }
}

const isSumsTable = (table: WrittenTable) => (sumsTableNames as string[]).includes(table)

async function present(stores: Stores, accountId: string, table: WrittenTable): Promise<Row[]> {
  const added = sums.map(({ name }) => `sum(${table}.${name}) AS ${name}`)
  const columns = isSumsTable(table) ? `* EXCEPT (${sums.map(({ name }) => name)}), ${added}` : '* EXCEPT row_text'
  const grouping = isSumsTable(table) ? 'GROUP BY ALL' : ''
  return await rowsOf<Row>(stores, `SELECT ${columns} FROM ${table} WHERE account_id = '${accountId}' ${grouping}`)
}

/** Restores a table; its derived tables keep their rows. */
async function undo(stores: Stores, accountId: string, table: WrittenTable, before: Row[]): Promise<void> {
  const { client } = stores.clickhouse
  const insert = async (values: Row[]) => {
    if (values.length > 0) await client.insert({ table, values, format: 'JSONEachRow' })
  }
  if (table === 'clicks' || table === 'conversions') {
    const key = table === 'clicks' ? ['id'] : ['id', 'version']
    const kept = before.map((row) => `(${key.map((name) => `'${row[name]}'`).join(', ')})`)
    const isNew =
      kept.length > 0 ? `AND (${key.map((name) => `toString(${name})`).join(', ')}) NOT IN (${kept.join(', ')})` : ''
    await changeTables(stores, `DELETE FROM ${table} WHERE account_id = '${accountId}' ${isNew}`)
  } else if (isSumsTable(table)) {
    const sumNames = sums.map(({ name }) => name)
    const keyOf = (row: Row) =>
      JSON.stringify(
        row,
        Object.keys(row).filter((name) => !sumNames.includes(name)),
      )
    const earlier = new Map(before.map((row) => [keyOf(row), row]))
    const after = await present(stores, accountId, table)
    await insert(
      after.map((row) => {
        // Money in the tests is in multiples of a quarter, exact in a double.
        const back = (name: string) => Number(earlier.get(keyOf(row))?.[name] ?? 0) - Number(row[name])
        return { ...row, ...Object.fromEntries(sumNames.map((name) => [name, back(name)])) }
      }),
    )
  } else {
    await changeTables(stores, `DELETE FROM ${table} WHERE account_id = '${accountId}'`)
    await insert(before)
  }
}
