// @module-tag all

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tableEngines } from '../../../src/stores/clickhouse/grants.ts'
import type { EmbeddedClickHouse } from '../../../src/stores/embedded/protocol.ts'
import { execute, type Folder, makeEmptyFolder } from './folder.ts'

let folder: Folder
let clickhouse: EmbeddedClickHouse
let outside: string
let server: Server
let connections = 0
beforeAll(async () => {
  folder = makeEmptyFolder()
  clickhouse = (await folder.attach({ postgres: false })).clickhouse as EmbeddedClickHouse
  outside = join(folder.path, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'secret'), 'the secret\n')
  await execute(clickhouse, 'CREATE DATABASE tributary')
  await execute(clickhouse, 'CREATE TABLE tributary.rows (id String) ENGINE = ReplacingMergeTree ORDER BY id')
  server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  server?.close()
  await folder?.leave()
})

/** `%file` is a file outside of the engine's folder, `%folder` its folder, `%data` the engines' folder, `%server` a server that listens. */
const filled = (query: string) =>
  query
    .replaceAll('%file', join(outside, 'secret'))
    .replaceAll('%folder', outside)
    .replaceAll('%data', folder.path)
    .replaceAll('%server', `127.0.0.1:${(server.address() as { port: number }).port}`)

const refused = /ACCESS_DENIED|READONLY|SETTING_CONSTRAINT_VIOLATION|INTO_OUTFILE_NOT_ALLOWED/

const sources = [
  `file('%file', 'LineAsString')`,
  `filesystem('%folder')`,
  `url('http://%server/', 'LineAsString')`,
  `s3('http://%server/bucket/key', 'LineAsString')`,
  `remote('%server', system.one)`,
  `remoteSecure('%server', system.one)`,
  `mysql('%server', 'd', 't', 'u', 'p')`,
  `postgresql('%server', 'd', 't', 'u', 'p')`,
  `sqlite('%file', 't')`,
]

const statements = [
  ...sources.map((source) => `SELECT * FROM ${source}`),
  `INSERT INTO FUNCTION file('%folder/new', 'TSV', 'a String') VALUES ('x')`,
  `SELECT 1 INTO OUTFILE '%folder/new'`,
  `SELECT 1 AS a FORMAT Template SETTINGS format_template_row = '%file'`,
  `SELECT 1 AS a FORMAT Template SETTINGS format_template_resultset = '%file'`,
  `SELECT 1 AS a FORMAT Protobuf SETTINGS format_schema = '%file:M'`,
  `SELECT 1 AS a FORMAT Protobuf SETTINGS output_format_schema = '%folder/new'`,
  `SELECT 1 SETTINGS input_format_record_errors_file_path = '%folder/new'`,
  `SELECT 1 SETTINGS format_avro_schema_registry_url = 'http://%server/'`,
  ...['users', 'named_collections', 'server_settings', 'stack_trace', 'disks', 'user_directories'].map(
    (table) => `SELECT * FROM system.${table}`,
  ),
  ...['STOP LISTEN HTTP', 'SHUTDOWN', 'KILL', 'FLUSH LOGS', 'STOP MERGES tributary.rows', 'DROP MARK CACHE'].map(
    (command) => `SYSTEM ${command}`,
  ),
  `CREATE DATABASE other ENGINE = Filesystem('%folder')`,
  `CREATE DATABASE other ENGINE = SQLite('%file')`,
  'CREATE DATABASE other',
  'DROP DATABASE tributary',
  `CREATE DICTIONARY tributary.d (a UInt8) PRIMARY KEY a SOURCE(FILE(PATH '%file' FORMAT TSV)) LAYOUT(FLAT()) LIFETIME(0)`,
  `CREATE DICTIONARY tributary.d (a UInt8) PRIMARY KEY a SOURCE(HTTP(URL 'http://%server/' FORMAT TSV)) LAYOUT(FLAT()) LIFETIME(0)`,
  `CREATE DICTIONARY tributary.d (a UInt8) PRIMARY KEY a SOURCE(EXECUTABLE(COMMAND 'id' FORMAT TSV)) LAYOUT(FLAT()) LIFETIME(0)`,
  'CREATE FUNCTION f AS x -> x',
  'CREATE NAMED COLLECTION c AS a = 1',
  'CREATE USER someone',
  'GRANT ALL ON *.* TO tributary',
  `BACKUP DATABASE tributary TO File('%folder/backup')`,
  `CREATE VIEW tributary.v AS SELECT * FROM file('%file', 'LineAsString')`,
  'CREATE VIEW tributary.v DEFINER = default SQL SECURITY DEFINER AS SELECT 1',
  'CREATE VIEW tributary.v SQL SECURITY NONE AS SELECT 1',
  `CREATE TEMPORARY TABLE t (a String) ENGINE = File(TSV, '%folder/new')`,
]

const disks = [
  `type = local, path = '%folder/disk/'`,
  `type = object_storage, object_storage_type = local, metadata_type = local, path = '%folder/disk/'`,
  `type = web, endpoint = 'http://%server/'`,
  `type = s3, endpoint = 'http://%server/bucket/', access_key_id = 'a', secret_access_key = 'b'`,
]

describe.each(['writer', 'reader'] as const)('the %s', (user) => {
  it.each(statements)('is refused: %s', async (statement) => {
    const before = connections
    await expect(execute(clickhouse, filled(statement), clickhouse[user])).rejects.toThrow(refused)
    expect(connections).toBe(before)
    for (const made of ['new', 'backup']) expect(existsSync(join(outside, made))).toBe(false)
  })

  // A disk is tried before it is rejected.
  it.each(disks)('creates no table on %s', async (disk) => {
    const before = connections
    const statement = `CREATE TABLE tributary.t (a String) ENGINE = ReplacingMergeTree ORDER BY a SETTINGS disk = disk(${disk})`
    await expect(execute(clickhouse, filled(statement), clickhouse[user])).rejects.toThrow()
    expect(connections).toBe(before)
    if (process.platform === 'linux') expect(readdirSync(outside)).toEqual(['secret'])
    expect(await execute(clickhouse, 'EXISTS TABLE tributary.t')).toBe('0')
  })

  it('is refused every table engine that migrations do not use', async () => {
    const listed = await execute(clickhouse, 'SELECT name FROM system.table_engines ORDER BY name')
    const engines = listed.split('\n').filter((name) => !tableEngines.includes(name))
    expect(engines).toContain('File')
    for (const engine of engines) {
      const statement = `CREATE TABLE tributary.t (id String) ENGINE = ${engine}`
      await expect(execute(clickhouse, statement, clickhouse[user]), engine).rejects.toThrow(/ACCESS_DENIED|READONLY/)
    }
  })
})

/** What no grant and no setting forbids, the kernel does where it can; see `landlock.ts`. */
describe.runIf(process.platform === 'linux')('the engine', () => {
  it.each([
    `SELECT file('%file')`,
    `SELECT file('/etc/passwd')`,
    `SELECT file('/proc/self/root%file')`,
    `SELECT file('/proc/${process.pid}/environ')`,
    `SELECT file('%data/run/clickhouse-config.xml') || file('%data/run/supervisor.lock')`,
    `SELECT file('%data/embedded.log')`,
    `ATTACH TABLE tributary.moved FROM '%folder' (a UInt8) ENGINE = ReplacingMergeTree ORDER BY a`,
  ])('reaches no file outside of its folder: %s', async (statement) => {
    await expect(execute(clickhouse, filled(statement))).rejects.toThrow(/Permission denied/)
    expect(readdirSync(outside)).toEqual(['secret'])
  })
})

it.each([
  `INSERT INTO tributary.rows VALUES ('x')`,
  `ALTER TABLE tributary.rows DELETE WHERE id = 'x'`,
  'TRUNCATE TABLE tributary.rows',
  'DROP TABLE tributary.rows',
  'KILL QUERY WHERE 1 = 1',
  'SELECT * FROM system.processes',
  'SELECT 1 SETTINGS readonly = 0',
  'SELECT 1 SETTINGS max_memory_usage = 0',
])('the reader may not: %s', async (statement) => {
  await expect(execute(clickhouse, statement, clickhouse.reader)).rejects.toThrow(refused)
})

it('the reader reads the tables', async () => {
  expect(await execute(clickhouse, 'SELECT count() FROM tributary.rows', clickhouse.reader)).toBe('0')
})

it('the writer creates tables, writes, reads and changes rows, inspects parts and ends queries', async () => {
  await execute(clickhouse, 'CREATE TABLE tributary.base (id UInt32) ENGINE = ReplacingMergeTree ORDER BY id')
  await execute(
    clickhouse,
    'CREATE TABLE tributary.sums (id UInt32, rows UInt64) ENGINE = SummingMergeTree ORDER BY id',
  )
  await execute(
    clickhouse,
    'CREATE MATERIALIZED VIEW tributary.base_to_sums TO tributary.sums AS SELECT id, count() AS rows FROM tributary.base GROUP BY id',
  )
  await execute(clickhouse, 'INSERT INTO tributary.base SELECT number FROM numbers(10)')
  await execute(clickhouse, 'ALTER TABLE tributary.base DELETE WHERE id = 1 SETTINGS mutations_sync = 1')
  await execute(clickhouse, 'OPTIMIZE TABLE tributary.base FINAL')
  expect(
    await execute(clickhouse, 'SELECT count(), (SELECT sum(rows) FROM tributary.sums) FROM tributary.base FINAL'),
  ).toBe('9\t10')
  await execute(clickhouse, `KILL QUERY WHERE query_id = 'none'`)
  expect(await execute(clickhouse, `SELECT count() FROM system.parts WHERE table = 'base' AND active`)).not.toBe('0')
})
