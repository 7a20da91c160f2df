import type { DuckDBConnection } from '@duckdb/node-api'
import { inDays } from '../database/compare.ts'
import { type SyncState, stateStatement, stateValues } from '../database/state.ts'
import { jsonIn } from '../database/tables.ts'
import type { Span } from '../source/checksums.ts'
import { received } from '../source/received.ts'
import { type ChangingResource, columnNameOf, type Resource, subIdNames } from '../source/resources.ts'
import { inTransaction } from './database.ts'

/** Rows that are loaded into a table. */
export interface Load {
  /** Path of a Parquet file with the fields of the resource. */
  file: string
  /** The rows of these days, or all rows of the table, are replaced; otherwise older versions of the rows. */
  replaced?: Span | 'table'
  /** How far the resource is copied with these rows. */
  after?: SyncState
}

/**
 * Loads rows and stores how far they reach, in one transaction. A row replaces the one with the same key.
 * @returns number of rows that were inserted or changed
 * @throws TemporaryError when a row has no key or time, is not of the days that are replaced, or is repeated
 */
export async function loadRows(
  connection: DuckDBConnection,
  schema: string,
  resource: Resource | ChangingResource,
  { file, replaced, after }: Load,
): Promise<number> {
  const table = `${schema}.${resource.name}`
  const key = resource.key.map(columnNameOf)
  const time = 'time' in resource ? columnNameOf(resource.time) : undefined
  const rows = rowsOf(resource)
  const isSame = key.map((column) => `r.${column} = t.${column}`).join(' AND ')
  // TRAP: a path with `*`, `?` or `[` is a pattern.
  const path = file.replaceAll(/[*?[]/g, '[$&]')
  const days = typeof replaced === 'object' ? [replaced.from, replaced.to] : ['0001-01-01', '9999-12-31']
  return await inTransaction(connection, async () => {
    const valid = key.map((column) => `r.${column} IS NOT NULL`)
    if (time) valid.push(inDays(`r.${time}`, 2, 3), 'isfinite(r.stored_at)')
    const same = `(SELECT count(*)::int FROM ${table} AS t, ${rows} WHERE ${isSame} AND r.stored_at = t.stored_at)`
    // Equal rows are not written again, which would take a checkpoint. Rows are equal by their number and the sum of their hashes.
    const equal = `(SELECT (count(*), sum(hash(t))) FROM (SELECT ${Object.keys(resource.fields).map(columnNameOf)} FROM ${table}) AS t) = (count(*), sum(hash(r)))`
    const found = await connection.runAndReadAll(
      `SELECT count(*)::int, (count(DISTINCT (${key.map((column) => `r.${column}`)})) FILTER (WHERE ${valid.join(' AND ')}))::int,
         ${replaced ? 0 : same}, ${replaced === 'table' ? equal : false}
       FROM ${rows}`,
      time ? [path, ...days] : [path],
    )
    const [all, distinct, kept, isEqual] = found.getRows()[0] as [number, number, number, boolean]
    received(resource.path, `the number of valid rows, of ${all},`, distinct, (count): count is number => count === all)

    if (!isEqual) {
      if (replaced === 'table') await connection.run(`DELETE FROM ${table}`)
      else if (replaced) await connection.run(`DELETE FROM ${table} AS t WHERE ${inDays(`t.${time}`, 1, 2)}`, days)
      if (all > 0) {
        if (replaced !== 'table')
          await connection.run(`DELETE FROM ${table} AS t USING ${rows} WHERE ${isSame}`, [path])
        await connection.run(`INSERT INTO ${table} BY NAME FROM ${rows}`, [path])
      }
    }
    if (after) await connection.run(stateStatement(schema), stateValues(resource, after))
    return isEqual ? 0 : all - kept
  })
}

/** @returns a table `r` with the rows of a file; `$1` is its path */
function rowsOf({ fields }: Resource): string {
  const selected = Object.entries(fields).map(([field, type]) => {
    const value = subIdNames.has(field) ? `"subIds"."${field}"` : `"${field}"`
    const converted = type === 'json' ? jsonIn(value) : `${value}::${type.replace(' NOT NULL', '')}`
    return `${converted} AS ${columnNameOf(field)}`
  })
  return `(SELECT ${selected} FROM read_parquet($1)) AS r`
}
