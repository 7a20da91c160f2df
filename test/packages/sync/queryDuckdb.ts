import { DuckDBInstance } from '@duckdb/node-api'

/** Executes statements on a file of DuckDB, which is opened for them. @returns the rows of the last one */
export async function queryDuckdb(file: string, statements: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(statements)).getRowObjectsJS()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
