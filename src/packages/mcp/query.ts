import type { DuckDBResult } from '@duckdb/node-api'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { failure, result, textMax } from './result.ts'

const rowsMax = 1_000
const rowsDefault = 100

/** The longest time of a query. */
const timeMaxMs = 20_000

/** The functions that may be in FROM. Others read files, or write them, such as `enable_logging`. */
const tableFunctions =
  /^(RANGE|GENERATE_SERIES|REPEAT|REPEAT_ROW|UNNEST|SUMMARY|JSON_EACH|JSON_TREE|ICU_CALENDAR_NAMES|PG_TIMEZONE_NAMES|(DUCKDB|PRAGMA)_\w+)$/

/** Queries that were interrupted. DuckDB ends a query only between two operations; one may be the sum of a long list. */
const unfinished = new Set<Promise<unknown>>()

/** The tool that queries a copy of tributary-sync. */
export const queryTool = {
  name: 'query',
  title: 'SQL on a copy of the rows',
  description: `Runs one SELECT of DuckDB on a copy of the account's rows, for questions that the other tools cannot answer.
Tables: clicks, conversions, costs, events (properties is JSON), campaigns, offers, landing_pages, traffic_sources, countries, with the
fields of the API in snake case; DESCRIBE clicks lists the columns. Views click_details, conversion_details, cost_details, event_details add names.
report('campaign', '2026-11-01', '2026-12-01') and daily('Europe/Berlin', '2026-11-01', '2026-11-30') return the numbers of reports.
These count clicks with NOT is_bot AND NOT is_test, conversions with NOT is_test, revenue of status 'approved', and the cost of clicks and costs. Amounts in the currency
of the account: cost_base, revenue_base. Times are UTC.`,
  inputSchema: {
    type: 'object' as const,
    properties: {
      sql: { type: 'string', description: 'One SELECT, with aggregates where possible.' },
      limit: { type: 'integer', default: rowsDefault, maximum: rowsMax, description: 'Rows of the result.' },
    },
    required: ['sql'],
    additionalProperties: false,
  },
}

/**
 * Runs a query on a copy, which is open only meanwhile: tributary-sync can write it between queries.
 * @param file of DuckDB
 * @param signal ends the query
 * @returns the rows as JSON, and whether there are more; errors in the words of DuckDB; after `timeMs` an error at once
 */
export async function queryCopy(
  file: string,
  { sql, limit = rowsDefault }: Record<string, unknown>,
  signal: AbortSignal,
  timeMs = timeMaxMs,
): Promise<CallToolResult> {
  if (typeof sql !== 'string' || sql.trim() === '') return failure('sql must be a SELECT.')
  if (!Number.isInteger(limit) || Number(limit) < 1 || Number(limit) > rowsMax) {
    return failure(`limit must be 1 to ${rowsMax}; aggregate the rows.`)
  }
  const timeout = AbortSignal.timeout(timeMs)
  const ends = AbortSignal.any([signal, timeout])
  try {
    const reading = Promise.all(unfinished).then(() => readRows(file, sql, Number(limit), ends))
    const { asOf, columns, rows, isComplete } = await Promise.race([reading, rejectionOf(ends, reading)])
    if (rows.length === 0 && !isComplete)
      return failure('A row is too long; select fewer columns, or substr(column, 1, 200).')
    const hint = `These are the first ${rows.length} rows. Aggregate, filter or select fewer columns.`
    const head = JSON.stringify({ asOf, columns }).slice(0, -1)
    return result(`${head},"rows":[${rows}]}`, isComplete ? undefined : hint)
  } catch (error) {
    if (timeout.aborted) return failure(`The query took longer than ${timeMs / 1_000} s; select a shorter range.`)
    return failure((error as Error).message)
  }
}

/** @returns a promise that is rejected when the signal aborts; then the next query waits for `reading` */
function rejectionOf(signal: AbortSignal, reading: Promise<unknown>): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      const ended: Promise<unknown> = reading.catch(() => {}).then(() => unfinished.delete(ended))
      unfinished.add(ended)
      reject(signal.reason)
    })
  })
}

/**
 * @returns `asOf`, the time before which all rows are copied, null if the copy of a resource is not complete; the columns; each row as
 *   JSON; and whether the result has no further rows
 * @throws the error of DuckDB
 */
async function readRows(file: string, sql: string, limit: number, signal: AbortSignal) {
  signal.throwIfAborted()
  const { DuckDBInstance, DuckDBTimestampTZValue, StatementType } = await importDuckdb()
  DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
  // No statement reaches another file, the network or an extension, or changes that.
  const closed = { access_mode: 'READ_ONLY', enable_external_access: 'false', allow_persistent_secrets: 'false' }
  const limits = { memory_limit: '1GB', max_temp_directory_size: '10GB' }
  const instance = await DuckDBInstance.create(file, { ...closed, ...limits })
  const connection = await instance.connect()
  // Again and again: an interrupt before a statement has started has no effect.
  const interrupting = setInterval(() => signal.aborted && connection.interrupt(), 50)
  try {
    const [schema, table] = await firstRow(`
      SELECT schema_name, table_name FROM duckdb_tables()
      WHERE table_name IN ('sync_state', 'sync_times') AND regexp_full_match(schema_name, '[a-z0-9_]+')
      ORDER BY table_name DESC`)
    if (typeof schema !== 'string') throw new Error(`${file} is not a copy of tributary-sync.`)
    // A copy that was last updated before version 1.1 has no `sync_times`.
    const times = table === 'sync_times' ? `"${schema}".sync_times` : '(SELECT resource, since AS as_of FROM s)'
    const [asOf] = await firstRow(`
      WITH s AS (FROM "${schema}".sync_state)
      SELECT CASE WHEN count(*) = count(CASE WHEN s.since IS NOT NULL THEN t.as_of END) THEN min(t.as_of) END
      FROM s LEFT JOIN ${times} AS t ON t.resource = s.resource
      WHERE s.resource IN ('clicks', 'conversions', 'costs', 'events')`)
    await connection.run(`SET TimeZone = 'UTC'; SET search_path = '${schema}'; SET lock_configuration = true`)
    const statements = await connection.extractStatements(sql)
    if (statements.count !== 1) throw new Error('sql must be one SELECT.')
    const statement = await statements.prepare(0)
    if (statement.statementType !== StatementType.SELECT) throw new Error('sql must be one SELECT.')
    const [, plan] = await firstRow(`EXPLAIN (FORMAT json) FROM query('${sql.replaceAll("'", "''")}')`)
    const used = [...`${plan}`.matchAll(/(?<!\\)"Function": "(\w+)/g)].map(([, name = '']) => name)
    const refused = used.find((name) => !tableFunctions.test(name))
    if (refused) throw new Error(`the function ${refused.toLowerCase()} is not available in FROM.`)
    const found = await statement.stream()
    return { asOf, columns: found.columnNames(), ...(await firstRows(found, limit)) }
  } finally {
    clearInterval(interrupting)
    connection.closeSync()
    instance.closeSync()
  }

  async function firstRow(query: string): Promise<unknown[]> {
    return (await connection.runAndReadAll(query)).getRows()[0] ?? []
  }
}

/** Reads rows while they fit into a result, one by one: a row may be longer than the memory. */
async function firstRows(found: DuckDBResult, limit: number) {
  const { JsonDuckDBValueConverter } = await importDuckdb()
  const rows: string[] = []
  let length = 0
  for await (const chunk of found) {
    for (let index = 0; index < chunk.rowCount; index++) {
      if (rows.length === limit) return { rows, isComplete: false }
      const row = JSON.stringify(chunk.convertRowValues(index, JsonDuckDBValueConverter))
      length += row.length
      if (length > textMax) return { rows, isComplete: false }
      rows.push(row)
    }
  }
  return { rows, isComplete: true }
}

/** @throws Error when the package is not installed */
async function importDuckdb() {
  try {
    const loaded = await import('@duckdb/node-api')
    // TRAP: its decoder of texts removes U+FEFF from their beginning.
    const { default: accessors } = await import('@duckdb/node-api/lib/vectors/dataAccessors.js')
    Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) })
    return loaded
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error('DuckDB is not installed; install @duckdb/node-api@1.5.6-r.1 beside tributary-mcp.')
  }
}
