import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import { startPostgres } from '../test/kit/postgresServer.ts'
import { type BenchStores, select } from './stores.ts'

/** A query and its values, from `$1`. */
export interface PostgresQuery {
  text: string
  values: (string | Date)[]
}

/** An empty PostgreSQL 15 server. */
export interface PostgresBench {
  url: string
  sql: postgres.Sql
  close(): Promise<void>
}

const psql = '/usr/lib/postgresql/15/bin/psql'
/** For a dedicated machine with 16 GB and two cores. */
const settings = {
  shared_buffers: '4GB',
  effective_cache_size: '8GB',
  work_mem: '64MB',
  maintenance_work_mem: '1GB',
  max_parallel_workers_per_gather: '2',
  max_wal_size: '8GB',
  random_page_cost: '1.1',
}

/** @param changes of the settings @throws Error when PostgreSQL 15 is not installed */
export async function openPostgresBench(changes: Record<string, string> = {}): Promise<PostgresBench> {
  const server = await startPostgres()
  const url = server.url('tributary')
  const open = () => postgres(url, { max: 16, onnotice() {} })
  const administrator = open()
  for (const [name, value] of Object.entries({ ...settings, ...changes })) {
    await administrator.unsafe(`ALTER SYSTEM SET ${name} = '${value}'`)
  }
  await administrator.end()
  await server.stop()
  await server.start()
  const sql = open()
  return {
    url,
    sql,
    async close() {
      await sql.end()
      await server.close()
    },
  }
}

/** Runs a statement with psql, which reads or writes files by `\\copy`. */
export function runPsql(url: string, statement: string): void {
  execFileSync(psql, [url, '-qX', '-v', 'ON_ERROR_STOP=1', '-c', statement], { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** For the queries of reads: ranges and pages by time, pages of a campaign, conversions of a click, search. */
const indexes = [
  'CREATE UNIQUE INDEX ON clicks (account_id, clicked_at, id)',
  'CREATE INDEX ON clicks (account_id, campaign_id, clicked_at, id)',
  'CREATE UNIQUE INDEX ON conversions (account_id, id)',
  'CREATE INDEX ON conversions (account_id, converted_at, id)',
  'CREATE INDEX ON conversions (account_id, click_id)',
  'CREATE INDEX ON conversions USING gin (search_text gin_trgm_ops)',
]

/** Copies clicks and conversions, without the columns that only ClickHouse needs. */
export async function copyRows(stores: BenchStores, { sql, url }: PostgresBench): Promise<void> {
  await sql`CREATE EXTENSION pg_trgm`
  for (const table of ['clicks', 'conversions'] as const) {
    console.log(`PostgreSQL: copying ${table}`)
    const columns = await select<{ name: string; type: string }>(
      stores,
      `SELECT name, multiIf(
         type LIKE 'DateTime64%', 'timestamptz(3)', type LIKE '%Decimal%', 'numeric(18, 6)', type = 'Bool', 'boolean', 'text'
       ) AS type
       FROM system.columns
       WHERE database = currentDatabase() AND table = {table:String}
         AND name NOT IN ('row_text', 'page_text', 'stored_at', 'version', 'is_deleted') AND (name NOT LIKE 'click\\_%' OR name = 'click_id')`,
      { table },
    )
    await sql.unsafe(
      `CREATE UNLOGGED TABLE ${table} (${columns.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
    )
    await copyTable(stores, url, table, columns)
  }
  for (const index of indexes) {
    console.log(`PostgreSQL: ${index}`)
    await sql.unsafe(index)
  }
  await sql`VACUUM ANALYZE`
}

async function copyTable(
  { clickhouse }: BenchStores,
  url: string,
  table: 'clicks' | 'conversions',
  columns: readonly { name: string; type: string }[],
): Promise<void> {
  // PostgreSQL rejects NUL, the separator of fields in search_text.
  const read = columns.map(({ name, type }) =>
    type === 'text' ? `nullIf(replaceAll(toString(${name}), '\\0', '\\n'), '')` : name,
  )
  const response = await clickhouse.client.exec({
    query: `SELECT ${read.join(', ')} FROM ${table}${table === 'conversions' ? ' FINAL' : ''} FORMAT CSV`,
    clickhouse_settings: { max_execution_time: 3600, output_format_parallel_formatting: 0 },
  })
  const names = columns.map(({ name }) => name).join(', ')
  const statement = `COPY ${table} (${names}) FROM STDIN (FORMAT csv, NULL '\\N')`
  const child = spawn(psql, [url, '-qX', '-v', 'ON_ERROR_STOP=1', '-c', statement], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, PGTZ: 'UTC' },
  })
  const ended = once(child, 'close')
  await pipeline(response.stream, child.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error(`psql exited with ${code}`)
}
