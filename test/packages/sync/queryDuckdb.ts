import { DuckDBInstance } from '@duckdb/node-api'

type Query = (statements: string) => Promise<Record<string, unknown>[]>

export async function withDuckdb<Result>(file: string, use: (query: Query) => Promise<Result>): Promise<Result> {
  const instance = await DuckDBInstance.create(file)
  const connection = await instance.connect()
  try {
    return await use(async (statements) => (await connection.runAndReadAll(statements)).getRowObjectsJS())
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** Executes statements on a file of DuckDB, which is opened for them. @returns the rows of the last one */
export const queryDuckdb = (file: string, statements: string) => withDuckdb(file, (query) => query(statements))
