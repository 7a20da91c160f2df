import { createRequire } from 'node:module'
import { basename } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Database } from '../database/database.ts'
import { explainMissing, SyncError, TemporaryError } from '../source/errors.ts'
import { duckdbDialect } from './dialect.ts'

/**
 * Opens a database file.
 * @param options settings of DuckDB
 * @throws SyncError when the package of DuckDB is not installed; TemporaryError when another process has opened the file for
 *   writing, or it is no database
 */
export async function openFile(file: string, options: Record<string, string>) {
  const { DuckDBInstance, DuckDBTimestampTZValue } = loadPackage()
  const instance = await DuckDBInstance.create(file, options).catch((error: Error) => {
    throw new TemporaryError(`${file} cannot be opened: ${error.message.split('\n')[0]}`)
  })
  const connection = await instance.connect()
  await connection.run("SET TimeZone = 'UTC'")
  DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
  return {
    connection,
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

/** Not by `import`, which takes twice as long: it first searches the many CommonJS files of the package for names. */
export function loadPackage(): typeof import('@duckdb/node-api') {
  try {
    const require = createRequire(import.meta.url)
    const loaded = require('@duckdb/node-api')
    // TRAP: its decoder of texts removes U+FEFF from their beginning.
    require('@duckdb/node-api/lib/vectors/dataAccessors.js').textDecoder = new TextDecoder('utf-8', { ignoreBOM: true })
    return loaded
  } catch (error) {
    return explainMissing(error as NodeJS.ErrnoException, 'DuckDB', '@duckdb/node-api@1.5.6-r.1')
  }
}

/** @returns what statements of both databases are executed with */
export function databaseOf(connection: DuckDBConnection): Database {
  return {
    dialect: duckdbDialect,
    async query<Row>(statement: string, values: readonly (string | null)[] = []) {
      return (await connection.runAndReadAll(statement, [...values])).getRowObjectsJson() as Row[]
    },
    execute: (statements) =>
      inTransaction(connection, async () => {
        for (const statement of statements) await connection.run(statement)
      }),
  }
}

/** Runs statements as a whole or not at all. */
export async function inTransaction<Result>(connection: DuckDBConnection, run: () => Promise<Result>): Promise<Result> {
  await connection.run('BEGIN')
  try {
    const result = await run()
    await connection.run('COMMIT')
    return result
  } catch (error) {
    // A failed COMMIT has ended the transaction.
    await connection.run('ROLLBACK').catch(() => {})
    throw error
  }
}

/**
 * TRAP: DuckDB cannot tell the schema of a name such as `tributary.clicks` from a database, which is named like its file.
 * @throws SyncError
 */
export function assertOtherName(file: string, schema: string): void {
  if (basename(file).split('.')[0]?.toLowerCase() !== schema) return
  throw new SyncError(
    `${basename(file)} must not be named like the schema ${schema}; choose another name, or --schema.`,
  )
}
