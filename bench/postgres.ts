import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import type { Stores } from '../src/stores/open.ts'

/** A query and its values, from `$1`. */
export interface PostgresQuery {
  text: string
  values: (string | Date)[]
}

/** A PostgreSQL 15 server with the same clicks and conversions, as a baseline. */
export interface PostgresBench {
  readonly version: string
  /** Size of the table of clicks, without and with its indexes. */
  readonly rowBytes: number
  readonly allBytes: number
  run(query: PostgresQuery): Promise<unknown[]>
  close(): Promise<void>
}

const programs = '/usr/lib/postgresql/15/bin'
const port = 54_331
/** For a dedicated machine with 16 GB and two cores. */
const settings = {
  listen_addresses: '127.0.0.1',
  shared_buffers: '4GB',
  effective_cache_size: '8GB',
  work_mem: '64MB',
  maintenance_work_mem: '1GB',
  max_parallel_workers_per_gather: '2',
  max_wal_size: '8GB',
  random_page_cost: '1.1',
}

/**
 * Starts PostgreSQL 15 on a folder, and fills it from the stores when it is new.
 * @returns undefined, with a message, when PostgreSQL is not installed
 */
export async function openPostgresBench(
  folder: string,
  stores: Stores,
  onMessage: (line: string) => void,
): Promise<PostgresBench | undefined> {
  if (!existsSync(join(programs, 'postgres'))) {
    onMessage('PostgreSQL 15 is not installed (apt-get install postgresql-15): its column stays empty.')
    return undefined
  }
  const isFilled = existsSync(join(folder, 'filled'))
  if (!isFilled) await rm(folder, { recursive: true, force: true })
  const { sql, close } = await startPostgresServer(folder, { fsync: 'off' })
  try {
    if (!isFilled) {
      await fill(sql, stores, onMessage)
      await writeFile(join(folder, 'filled'), '')
    }
    const [figures] = await sql<{ version: string; rowBytes: number; allBytes: number }[]>`
      SELECT current_setting('server_version') AS version, pg_table_size('clicks')::float8 AS "rowBytes",
        pg_total_relation_size('clicks')::float8 AS "allBytes"`
    if (!figures) throw new Error('PostgreSQL does not respond.')
    return { ...figures, run: ({ text, values }) => sql.unsafe(text, values, { prepare: true }), close }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Starts PostgreSQL 15 on a folder, which is created when it is missing.
 * @param changes of the settings
 * @throws Error when PostgreSQL 15 is not installed
 */
export async function startPostgresServer(
  folder: string,
  changes: Record<string, string> = {},
): Promise<{ url: string; sql: postgres.Sql; close(): Promise<void> }> {
  if (!existsSync(folder)) {
    await mkdir(folder, { recursive: true })
    if (isRoot) execFileSync('chown', ['postgres', folder])
    asPostgres('initdb', ['-D', join(folder, 'data'), '-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C'])
  }
  // A killed bench leaves the server running.
  if (existsSync(join(folder, 'data/postmaster.pid'))) stop(folder)
  const serverSettings = Object.entries({ ...settings, ...changes, port: `${port}`, unix_socket_directories: folder })
  const words = serverSettings.map(([name, value]) => `-c ${name}=${value}`).join(' ')
  asPostgres('pg_ctl', ['-D', join(folder, 'data'), '-w', '-t', '120', '-l', join(folder, 'log'), '-o', words, 'start'])
  const sql = postgres({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 16, onnotice() {} })
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    sql,
    async close() {
      await sql.end()
      stop(folder)
    },
  }
}

/** Runs a statement with psql, which reads or writes files by `\\copy`. */
export function runPsql(url: string, statement: string): void {
  execFileSync(join(programs, 'psql'), [url, '-qX', '-v', 'ON_ERROR_STOP=1', '-c', statement], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

function stop(folder: string): void {
  asPostgres('pg_ctl', ['-D', join(folder, 'data'), '-w', '-m', 'fast', 'stop'])
}

const isRoot = userInfo().uid === 0

/** PostgreSQL refuses to run as root. */
function asPostgres(program: string, words: string[]): void {
  const path = join(programs, program)
  const options = { stdio: ['ignore', 'ignore', 'inherit'] as const, cwd: '/' }
  if (isRoot)
    execFileSync('runuser', ['-u', 'postgres', '--', path, ...words], { ...options, stdio: [...options.stdio] })
  else execFileSync(path, words, { ...options, stdio: [...options.stdio] })
}

/** Types of columns in PostgreSQL; absent text is NULL. */
const columns: Record<'clicks' | 'conversions', Record<string, string>> = {
  clicks: {
    account_id: 'text NOT NULL',
    clicked_at: 'timestamptz(3) NOT NULL',
    id: 'text NOT NULL',
    ...texts(
      'campaign_id offer_id landing_page_id traffic_source_id visitor_id country region city device os os_version',
    ),
    ...texts(
      'browser browser_version language referrer user_agent ip sub1 sub2 sub3 sub4 sub5 sub6 sub7 sub8 sub9 sub10',
    ),
    ...texts('external_click_id utm_source utm_medium utm_campaign utm_term utm_content'),
    cost: 'numeric(18, 6)',
    currency: 'text',
    cost_base: 'numeric(18, 6)',
    is_bot: 'boolean NOT NULL',
    is_test: 'boolean NOT NULL',
  },
  conversions: {
    account_id: 'text NOT NULL',
    converted_at: 'timestamptz(3) NOT NULL',
    id: 'text NOT NULL',
    ...texts('source status external_status event_name'),
    clicked_at: 'timestamptz(3)',
    created_at: 'timestamptz(3) NOT NULL',
    updated_at: 'timestamptz(3) NOT NULL',
    ...texts(
      'click_id visitor_id transaction_id campaign_id offer_id landing_page_id traffic_source_id country device os',
    ),
    ...texts('browser sub1 sub2 sub3 sub4 sub5 sub6 sub7 sub8 sub9 sub10'),
    payout: 'numeric(18, 6)',
    revenue: 'numeric(18, 6)',
    currency: 'text',
    revenue_base: 'numeric(18, 6)',
    coupon_code: 'text',
    is_test: 'boolean NOT NULL',
    search_text: 'text',
  },
}

function texts(names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, 'text']))
}

/** Indexes for the queries of this bench: ranges and pages by time, pages of a campaign or sub id, conversions of a click, search. */
const indexes = [
  'CREATE UNIQUE INDEX ON clicks (account_id, clicked_at, id)',
  'CREATE INDEX ON clicks (account_id, campaign_id, clicked_at, id)',
  'CREATE INDEX ON clicks (account_id, sub3, clicked_at, id)',
  'CREATE UNIQUE INDEX ON conversions (account_id, id)',
  'CREATE INDEX ON conversions (account_id, converted_at, id)',
  'CREATE INDEX ON conversions (account_id, click_id)',
  'CREATE INDEX ON conversions USING gin (search_text gin_trgm_ops)',
]

async function fill(sql: postgres.Sql, stores: Stores, onMessage: (line: string) => void): Promise<void> {
  await sql`CREATE EXTENSION pg_trgm`
  for (const [table, types] of Object.entries(columns)) {
    const list = Object.entries(types)
    await sql.unsafe(`CREATE UNLOGGED TABLE ${table} (${list.map(([name, type]) => `${name} ${type}`).join(', ')})`)
    onMessage(`PostgreSQL: copying ${table}`)
    await copy(stores, table, list)
  }
  for (const index of indexes) {
    onMessage(`PostgreSQL: ${index}`)
    await sql.unsafe(index)
  }
  await sql`VACUUM ANALYZE`
}

async function copy({ clickhouse }: Stores, table: string, list: [string, string][]): Promise<void> {
  // PostgreSQL rejects NUL, the separator of fields in search_text.
  const read = list.map(([name, type]) =>
    type === 'text' ? `nullIf(replaceAll(toString(${name}), '\\0', '\\n'), '')` : name,
  )
  const response = await clickhouse.client.exec({
    query: `SELECT ${read.join(', ')} FROM ${table}${table === 'conversions' ? ' FINAL' : ''} FORMAT CSV`,
    clickhouse_settings: { max_execution_time: 3600, output_format_parallel_formatting: 0 },
  })
  const names = list.map(([name]) => name).join(', ')
  const statement = `COPY ${table} (${names}) FROM STDIN (FORMAT csv, NULL '\\N')`
  const child = spawn(
    join(programs, 'psql'),
    ['-h', '127.0.0.1', '-p', `${port}`, '-U', 'postgres', '-qX', '-v', 'ON_ERROR_STOP=1', '-c', statement],
    { stdio: ['pipe', 'ignore', 'inherit'], cwd: '/', env: { ...process.env, PGTZ: 'UTC' } },
  )
  const ended = once(child, 'close')
  await pipeline(response.stream, child.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error(`psql exited with ${code}`)
}
