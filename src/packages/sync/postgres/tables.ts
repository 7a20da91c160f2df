import postgres, { type Sql } from 'postgres'
import { openChecksums } from '../database/compare.ts'
import type { Database } from '../database/database.ts'
import { openState, type SyncState, stateStatement, stateValues } from '../database/state.ts'
import { createTables, jsonIn } from '../database/tables.ts'
import { TemporaryError } from '../source/errors.ts'
import type { Row } from '../source/received.ts'
import { type ChangingResource, columnNameOf, type Resource } from '../source/resources.ts'
import { postgresDialect } from './dialect.ts'
import { jsonOf, otherRows, recordColumns } from './rows.ts'

/** The tables of a copy in PostgreSQL. */
export type PostgresTables = Awaited<ReturnType<typeof openTables>>

/**
 * Opens a copy, and creates or upgrades its tables.
 * @param schema a checked name
 */
export async function openTables(url: string, schema: string) {
  const sql = postgres(url, { max: 1, onnotice() {}, connection: { application_name: 'tributary-sync' } })
  const database = databaseOf(sql)
  await createTables(database, schema).catch(async (error) => {
    await sql.end({ timeout: 1 })
    throw error
  })
  /** Changes the state if it is what this process has read or written last. */
  const changeState = `${stateStatement(schema)}
    WHERE s.since IS NOT DISTINCT FROM $7 AND s.cursor IS NOT DISTINCT FROM $8
    RETURNING 1`
  return {
    ...openChecksums(database, schema),
    // Its reads of the state wait, by FOR UPDATE, for the last statement of a process that was killed.
    ...openState(database, schema),
    /**
     * Stores rows and how far they reach, in one statement: a process that ends at any moment continues where it was. A row
     * with the same `storedAt` is replaced only by a pass that fills new columns.
     * @returns number of rows that were inserted or changed
     * @throws TemporaryError when another process has changed the state
     */
    async store(resource: Resource, rows: readonly Row[], before: SyncState, after: SyncState): Promise<number> {
      const condition = before.newColumns === null ? 'WHERE t.stored_at <> excluded.stored_at' : ''
      // TRAP: not a transaction; a connection that breaks within one ends the process (postgres 3.4: its rollback finds no socket).
      const [written] = await sql.unsafe<[{ rows: number }?]>(
        `WITH state AS (${changeState}), stored AS (${upsertOf(resource, 9, ', state', `${condition} RETURNING 1`)})
         SELECT (SELECT count(*) FROM stored)::int AS rows FROM state`,
        [...stateValues(resource, after), before.since, before.cursor, jsonOf(resource, rows)],
      )
      if (!written) throw new TemporaryError(`another tributary-sync writes to the schema ${schema}; try again.`)
      return written.rows
    },
    /** Inserts or replaces rows. */
    storeAll: replace,
    /**
     * Makes the rows of a UTC day equal to these: replaces each batch, and deletes the other rows between its first and its last.
     * @param batches all rows of the day, newest first
     * @param isComplete asked before rows are deleted, and after the last batch; if not, no further row is deleted
     * @returns number of rows; undefined if they are not complete
     */
    async replaceRows(
      resource: ChangingResource,
      day: string,
      batches: AsyncIterable<readonly Row[]>,
      isComplete: () => Promise<boolean>,
    ): Promise<number | undefined> {
      let count = 0
      let before: Row | undefined
      for await (const rows of batches) {
        await replace(resource, rows)
        const others = otherRows(schema, resource, day, { before, rows, last: rows.at(-1) })
        const [found] = await sql.unsafe(`SELECT 1 ${others.from} LIMIT 1`, others.values)
        if (found) {
          if (!(await isComplete())) return undefined
          await sql.unsafe(`DELETE ${others.from}`, others.values)
        }
        count += rows.length
        before = rows.at(-1)
      }
      if (!(await isComplete())) return undefined
      const rest = otherRows(schema, resource, day, { before, rows: [], last: undefined })
      await sql.unsafe(`DELETE ${rest.from}`, rest.values)
      return count
    },
    close: () => sql.end({ timeout: 5 }),
  }

  async function replace(resource: Resource, rows: readonly Row[]): Promise<void> {
    await sql.unsafe(upsertOf(resource, 1, '', ''), [jsonOf(resource, rows)])
  }

  /**
   * @param parameter number of the parameter with the rows as JSON
   * @param joined further tables of FROM
   * @param condition of the replacement of an existing row, and what follows
   */
  function upsertOf(resource: Resource, parameter: number, joined: string, condition: string): string {
    const { name, key, fields } = resource
    const names = Object.keys(fields)
    const columns = names.map(columnNameOf)
    const updates = columns.map((column) => `${column} = excluded.${column}`)
    return `INSERT INTO ${schema}.${name} AS t (${columns.join(', ')})
      SELECT ${names.map((field) => (fields[field] === 'json' ? jsonIn(`r."${field}"`) : `r."${field}"`)).join(', ')}
      FROM json_to_recordset($${parameter}::text::json) AS r(${recordColumns(resource, names)})${joined}
      ON CONFLICT (${key.map(columnNameOf).join(', ')}) DO UPDATE SET ${updates.join(', ')} ${condition}`
  }
}

/** @returns what statements of both databases are executed with */
export function databaseOf(sql: Sql): Database {
  return {
    dialect: postgresDialect,
    query: async (statement, values = []) => await sql.unsafe(statement, [...values]),
    // PostgreSQL executes a query of several statements as a whole or not at all, also through a pooler that has a session per
    // statement.
    execute: async (statements) => void (await sql.unsafe(statements.join(';\n'))),
  }
}
