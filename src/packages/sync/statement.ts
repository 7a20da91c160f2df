import { type OutputFormat, printRows } from './output.ts'
import { kindOf } from './place.ts'

/** A statement on a copy. */
export interface StatementOptions {
  schema: string
  /** By default `table` on a terminal, else `csv`. */
  format?: OutputFormat
  /** Texts by the names of parameters of the statement. */
  param?: Record<string, string>
}

/**
 * Executes one statement on a copy and prints its rows, then on standard error their number and as of when they are.
 * @param target `postgres://…` or a file of DuckDB
 */
export async function runStatement(
  target: string,
  statement: string,
  { schema, format = process.stdout.isTTY ? 'table' : 'csv', param = {} }: StatementOptions,
  signal: AbortSignal,
): Promise<void> {
  const copy =
    kindOf(target) === 'postgres'
      ? await (await import('./postgres/query.ts')).openReadableCopy(target, schema, signal)
      : await (await import('./duckdb/query.ts')).openReadableCopy(target, schema, signal)
  try {
    const asOf = (await copy.asOf()) ?? 'an unfinished copy'
    const count = await printRows(await copy.query(statement, param), format)
    process.stderr.write(`${count} ${count === 1 ? 'row' : 'rows'} as of ${asOf}\n`)
  } finally {
    await copy.close()
  }
}
