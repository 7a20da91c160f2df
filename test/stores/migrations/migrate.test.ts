// @module-tag postgres

import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { packageRoot, version } from '../../../src/package.ts'
import { readMigrations, splitStatements } from '../../../src/stores/migrations/files.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { acquireLease } from '../../../src/stores/postgres/lease.ts'
import { rowsOf } from '../../import/runImport.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { storeClicks, storeConversions } from '../../kit/rows.ts'
import { describeClickHouse } from './describeSchema.ts'

const stores = useTestStores({ isDirty: true })
let root: string

// A test changes the tables of one server; each node of a cluster runs the same files by itself.
describe.skipIf(process.env.TRIBUTARY_TEST_CLUSTER)('later migrations', () => {
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tributary-migrations-'))
    for (const store of ['clickhouse', 'postgres'])
      await cp(join(packageRoot, store), join(root, store), { recursive: true })
  })
  afterEach(async () => {
    await rm(root, { recursive: true, force: true })
    for (const table of ['fixture_totals', 'fixture_rows']) await runInClickHouse(`DROP TABLE IF EXISTS ${table} SYNC`)
    await runInClickHouse("DELETE FROM schema_migrations WHERE name NOT LIKE '0001%'")
    await stores.postgres`DROP TABLE IF EXISTS fixture`
    await stores.postgres`DELETE FROM schema_migrations WHERE name NOT LIKE '0001%'`
  })

  it('run once, in the order of their names, and record their version', async () => {
    await addFile(
      'clickhouse/0003_totals.sql',
      `${createTotals}\nINSERT INTO fixture_totals SELECT sum(n) FROM fixture_rows;`,
    )
    await addFile('clickhouse/0002_rows.sql', `${createRows}\nINSERT INTO fixture_rows VALUES (2), (3);`)
    await addFile('postgres/0002_fixture.sql', 'CREATE TABLE fixture (n integer);')
    expect(await migrate(stores, root)).toEqual([
      'postgres/0002_fixture.sql',
      'clickhouse/0002_rows.sql',
      'clickhouse/0003_totals.sql',
    ])
    expect(await migrate(stores, root)).toEqual([])
    expect(await readNumbers('fixture_totals')).toEqual([5])
    const last = "SELECT version FROM schema_migrations WHERE name LIKE '0002%'"
    expect([...(await stores.postgres.unsafe(last))]).toEqual([{ version }])
    expect(await rowsOf(stores, last)).toEqual([{ version }])
  })

  it('run once when two instances start together', async () => {
    await addFile('clickhouse/0002_rows.sql', `${createRows}\nINSERT INTO fixture_rows VALUES (2);`)
    const ran = await Promise.all([migrate(stores, root), migrate(stores, root)])
    expect(ran.flat()).toEqual(['clickhouse/0002_rows.sql'])
    expect(await readNumbers('fixture_rows')).toEqual([2])
  })

  it('resume after a kill before any statement, and before a file is recorded', async () => {
    await addFile(
      'clickhouse/0002_rows.sql',
      `DROP TABLE IF EXISTS fixture_rows SYNC;\n${createRows}\nINSERT INTO fixture_rows VALUES (2);`,
    )
    await addFile('clickhouse/0003_totals.sql', createTotals)
    let kills = 0
    while (!(await migrateUntilStatement(kills))) kills += 1
    expect(kills).toBe(5)
    expect(await readNumbers('fixture_rows')).toEqual([2])
    expect(await migrate(stores, root)).toEqual([])
  })

  it('of this package can run again after a kill before they were recorded', async () => {
    const files = await readMigrations(packageRoot, 'clickhouse')
    const schema = await describeClickHouse(stores.clickhouse)
    for (const { name } of await listTables()) await runInClickHouse(`DROP TABLE IF EXISTS ${name} SYNC`)
    for (const [index, { name }] of files.entries()) {
      const folder = join(root, name)
      await cp(join(packageRoot, 'postgres'), join(folder, 'postgres'), { recursive: true })
      await mkdir(join(folder, 'clickhouse'))
      for (const file of files.slice(0, index + 1)) await writeFile(join(folder, 'clickhouse', file.name), file.sql)
      expect(await migrateUntil((method) => method === 'insert', folder)).toBe(false)
      if (index === 0) {
        await storeClicks(stores, 'acme', [{ id: 'k1', clicked_at: '2026-11-20 10:00:00.000' }])
        await storeConversions(stores, 'acme', [{ id: 's1', converted_at: '2026-11-20 11:00:00.000' }])
      }
      const before = await readChecksums()
      expect(await migrate(stores, folder)).toEqual([`clickhouse/${name}`])
      expect(await readChecksums()).toEqual(before)
    }
    expect(await describeClickHouse(stores.clickhouse)).toBe(schema)
    expect(Object.values(await readChecksums()).filter((checksum) => checksum !== '0').length).toBeGreaterThan(6)
  })

  it('of Postgres leave nothing behind when one of them fails', async () => {
    await addFile('postgres/0002_fixture.sql', 'CREATE TABLE fixture (n integer);')
    await addFile('postgres/0003_wrong.sql', 'SELECT 1 / 0;')
    await expect(migrate(stores, root)).rejects.toThrow('division by zero')
    expect(await stores.postgres`SELECT name FROM schema_migrations`).toEqual([{ name: '0001_baseline.sql' }])
    expect(await stores.postgres`SELECT to_regclass('fixture') AS fixture`).toEqual([{ fixture: null }])
  })

  it('wait until an import that is running has ended', async () => {
    await addFile('clickhouse/0002_rows.sql', createRows)
    const lease = await acquireLease(stores.postgres, 'writer:acme')
    const migration = migrate(stores, root)
    const migrationLeases = () =>
      stores.postgres`SELECT 1 FROM leases WHERE name = 'migrate' AND expires_at > clock_timestamp()`
    await expect.poll(migrationLeases).toHaveLength(1)
    expect(await listFixtureTables()).toEqual([])
    await lease.release()
    expect(await migration).toEqual(['clickhouse/0002_rows.sql'])
  })

  it('stop once another process holds the lease', async () => {
    await addFile('clickhouse/0002_rows.sql', `${createRows}\n${createTotals}`)
    const systemNow = Date.now.bind(Date)
    let suspendedMs = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => systemNow() + suspendedMs)
    const suspended = interceptClickHouse(stores, async ({ method }) => {
      if (method === 'read') return
      suspendedMs = 3_600_000
      await stores.postgres`UPDATE leases SET owner = 'another' WHERE name = 'migrate'`
    })
    try {
      await expect(migrate(suspended, root)).rejects.toThrow('another process has continued')
      expect(await listFixtureTables()).toEqual(['fixture_rows'])
    } finally {
      clock.mockRestore()
      await stores.postgres`DELETE FROM leases WHERE name = 'migrate'`
    }
    expect(await migrate(stores, root)).toEqual(['clickhouse/0002_rows.sql'])
  })

  it.each(['postgres', 'clickhouse'])('of %s are refused when an applied file is edited or missing', async (store) => {
    const name = `${store}/0002_fixture.sql`
    await addFile(name, 'SELECT 1;')
    await migrate(stores, root)
    await expect(migrate(stores)).rejects.toThrow(`${name} ran on this store, but this version does not have it`)
    const edited = await mkdtemp(join(tmpdir(), 'tributary-migrations-'))
    await cp(root, edited, { recursive: true })
    await writeFile(join(edited, name), 'SELECT 2;')
    await expect(migrate(stores, edited)).rejects.toThrow(`${name} has changed since it ran`)
    await rm(edited, { recursive: true })
  })
})

it('a statement of a migration of ClickHouse changes nothing when it arrives again later', async () => {
  // A process that was suspended before a statement sends it after another process has completed the migration.
  const repeatable = [
    /^CREATE (TABLE|(MATERIALIZED )?VIEW) IF NOT EXISTS /,
    /^ALTER TABLE \w+\s+(ADD \w+ IF NOT EXISTS|(DROP|CLEAR|MATERIALIZE) \w+ IF EXISTS|MODIFY (COLUMN|COMMENT|SETTING|TTL)) /,
  ]
  for (const { name, sql } of await readMigrations(packageRoot, 'clickhouse')) {
    for (const statement of splitStatements(sql)) {
      const text = statement.replace(/^--.*\n/gm, '').trim()
      expect(
        repeatable.some((form) => form.test(text)),
        `${name}: ${text.slice(0, 60)}`,
      ).toBe(true)
    }
  }
})

const createRows = 'CREATE TABLE IF NOT EXISTS fixture_rows (n UInt32) ENGINE = ReplacingMergeTree ORDER BY n;'
const createTotals = 'CREATE TABLE IF NOT EXISTS fixture_totals (n UInt64) ENGINE = ReplacingMergeTree ORDER BY n;'

const addFile = (name: string, sql: string) => writeFile(join(root, name), sql)

const runInClickHouse = (query: string) => stores.clickhouse.client.command({ query })

async function readNumbers(table: string): Promise<number[]> {
  return (await rowsOf<{ n: number }>(stores, `SELECT n FROM ${table} ORDER BY n`)).map(({ n }) => n)
}

/** Views first: dropping a table that a view reads from is refused. */
const listTables = () =>
  rowsOf<{ name: string; isStored: boolean }>(
    stores,
    `SELECT name, toBool(engine LIKE '%MergeTree' AND name != 'schema_migrations') AS isStored
    FROM system.tables
    WHERE database = currentDatabase()
    ORDER BY engine = 'MaterializedView' DESC, name`,
  )

/** A checksum of the merged rows of each table. */
async function readChecksums(): Promise<Record<string, string>> {
  const selects = (await listTables())
    .filter(({ isStored }) => isStored)
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, toString(sum(sipHash64(toString(tuple(*))))) AS checksum FROM ${name} FINAL`,
    )
  const rows = await rowsOf<{ name: string; checksum: string }>(stores, selects.join('\nUNION ALL\n'))
  return Object.fromEntries(rows.map(({ name, checksum }) => [name, checksum]))
}

async function listFixtureTables(): Promise<string[]> {
  const query = "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'fixture%'"
  return (await rowsOf<{ name: string }>(stores, query)).map(({ name }) => name)
}

/** Migrates as a process that is killed before a statement or record, counted from 0. @returns whether the migration completed */
async function migrateUntilStatement(statement: number): Promise<boolean> {
  let ran = 0
  return await migrateUntil(() => ran++ === statement, root)
}

/** @param isKilled whether the process is killed before this statement (`exec`) or record of a file (`insert`) */
async function migrateUntil(isKilled: (method: string) => boolean, folder: string): Promise<boolean> {
  class Killed extends Error {}
  const killed = interceptClickHouse(stores, ({ method }) => {
    if (method !== 'read' && isKilled(method)) throw new Killed()
  })
  try {
    await migrate(killed, folder)
    return true
  } catch (error) {
    if (error instanceof Killed) return false
    throw error
  }
}
