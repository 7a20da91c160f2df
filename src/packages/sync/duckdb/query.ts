import type { DuckDBResult, DuckDBType, DuckDBValue } from '@duckdb/node-api'
import { checkParameters, type ReadableCopy, readAsOf, timeJson } from '../database/query.ts'
import { SyncError } from '../source/errors.ts'
import { databaseOf, loadPackage, openFile } from './database.ts'

/**
 * Opens a copy for statements that read. Other processes can read the file at the same time.
 * @param schema a checked name
 * @param signal ends a statement
 */
export async function openReadableCopy(file: string, schema: string, signal: AbortSignal): Promise<ReadableCopy> {
  const opened = await openFile(file, { access_mode: 'READ_ONLY' })
  const { connection } = opened
  // Again and again: an interrupt before a statement has started has no effect.
  const interrupting = setInterval(() => signal.aborted && connection.interrupt(), 50)
  return {
    asOf: () => readAsOf(databaseOf(connection), schema),
    async query(statement, given) {
      await connection.run(`SET search_path = '${schema},main'`)
      const statements = await connection.extractStatements(statement)
      if (statements.count !== 1) throw new SyncError('--sql takes one statement.')
      const prepared = await statements.prepare(0)
      checkParameters(
        Array.from({ length: prepared.parameterCount }, (_, n) => prepared.parameterName(n + 1)),
        given,
      )
      prepared.bind(given)
      const result = await prepared.stream()
      return { columns: result.columnNames(), parts: jsonParts(result) }
    },
    async close() {
      clearInterval(interrupting)
      opened.close()
    },
  }
}

/** @yields the rows of each chunk, as JSON */
async function* jsonParts(result: DuckDBResult): AsyncGenerator<string[][]> {
  const { DuckDBTypeId, JsonDuckDBValueConverter } = loadPackage()
  const { BIGINT, HUGEINT, UBIGINT, UHUGEINT, DECIMAL, BIGNUM, TIMESTAMP, TIMESTAMP_TZ } = DuckDBTypeId
  const numbers = [BIGINT, HUGEINT, UBIGINT, UHUGEINT, DECIMAL, BIGNUM]
  const jsonOf = (value: DuckDBValue, type: DuckDBType): string => {
    if (value === null) return 'null'
    if (type.alias === 'JSON' || numbers.includes(type.typeId)) return `${value}`
    if (type.typeId === TIMESTAMP || type.typeId === TIMESTAMP_TZ) return timeJson(`${value}`)
    return JSON.stringify(JsonDuckDBValueConverter(value, type, JsonDuckDBValueConverter))
  }
  const types = result.columnTypes()
  for await (const chunk of result) {
    yield chunk.getRows().map((row) => row.map((value, index) => jsonOf(value, types[index] as DuckDBType)))
  }
}
