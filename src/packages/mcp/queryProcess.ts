import type { DuckDBConnection, DuckDBResult } from '@duckdb/node-api'
import { memoryMax, type Query, type Reply } from './query.ts'
import { textMax } from './result.ts'

// The process of a query, which the server ends after the reply or after its time.

/** The functions that may be in FROM. Others read files, or write them, such as `enable_logging`. */
const tableFunctions =
  /^(RANGE|GENERATE_SERIES|REPEAT|REPEAT_ROW|UNNEST|SUMMARY|JSON_EACH|JSON_TREE|ICU_CALENDAR_NAMES|PG_TIMEZONE_NAMES|(DUCKDB|PRAGMA)_\w+)$/

const end = () => process.kill(process.pid, 'SIGKILL')
process.once('disconnect', end)
// DuckDB limits the memory of its blocks, but not of lists and long texts.
setInterval(() => process.memoryUsage.rss() > memoryMax && end(), 5)
process.on('message', (query: Query) => {
  const reply = (one: Reply) => process.send?.(one)
  readRows(query).then(reply, ({ message }: Error) => reply({ error: message }))
})

/** @throws the error of DuckDB */
async function readRows({ file, sql, limit, temporary }: Query): Promise<Reply> {
  const { DuckDBInstance, DuckDBTimestampTZValue } = await importDuckdb()
  DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
  // Above this limit, DuckDB continues on disk.
  const limits = { memory_limit: '600MB', temp_directory: temporary, max_temp_directory_size: '10GB' }
  // No statement reaches another file, the network or an extension, or changes that. After this no folder can be set.
  const closed = { access_mode: 'READ_ONLY', enable_external_access: 'false', allow_persistent_secrets: 'false' }
  const instance = await DuckDBInstance.create(file, { ...limits, ...closed })
  const connection = await instance.connect()
  try {
    return await readCopy(connection, { file, sql, limit })
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** @throws the error of DuckDB; Error if the statement is no single SELECT, or reads more than the copy */
async function readCopy(connection: DuckDBConnection, { file, sql, limit }: Omit<Query, 'temporary'>): Promise<Reply> {
  const { StatementType } = await importDuckdb()
  const firstRow = async (query: string) => (await connection.runAndReadAll(query)).getRows()[0] ?? []
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
