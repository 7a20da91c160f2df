// @module-tag all
// @module-tag postgres

import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import { commit, packageRoot, version } from '../../../src/package.ts'
import { readMigrations, splitStatements } from '../../../src/stores/migrations/files.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { acquireLease } from '../../../src/stores/postgres/lease.ts'
import { importContent, makeAccount, rowsOf } from '../../import/runImport.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { storeClicks, storeConversions } from '../../kit/rows.ts'
import { describeClickHouse } from './describeSchema.ts'

const stores = useTestStores({ isDirty: true })
const { databaseUrl } = inject('engines')
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
    await runInClickHouse("DELETE FROM schema_migrations WHERE name LIKE '1%'")
    await stores.postgres`DROP TABLE IF EXISTS fixture`
    await stores.postgres`DELETE FROM schema_migrations WHERE name LIKE '1%'`
  })

  it('run once, in the order of their names, and record the program and which versions may use the result', async () => {
    await addFile(
      'clickhouse/1003_totals.sql',
      `${createTotals}\nINSERT INTO fixture_totals SELECT sum(n) FROM fixture_rows;`,
    )
    const used = '-- readable from: 0.0.2\n-- writable from: 0.0.3\n'
    await addFile('clickhouse/1002_rows.sql', `${used}${createRows}\nINSERT INTO fixture_rows VALUES (2), (3);`)
    await addFile('postgres/1002_fixture.sql', `${used}CREATE TABLE fixture (n integer);`)
    expect(await migrate(stores, root)).toEqual([
      'postgres/1002_fixture.sql',
      'clickhouse/1002_rows.sql',
      'clickhouse/1003_totals.sql',
    ])
    expect(await migrate(stores, root)).toEqual([])
    expect(await readNumbers('fixture_totals')).toEqual([5])
    const last = "SELECT version, commit, readable_from, writable_from FROM schema_migrations WHERE name LIKE '1002%'"
    const record = { version, commit, readable_from: '0.0.2', writable_from: '0.0.3' }
    expect([...(await stores.postgres.unsafe(last))]).toEqual([record])
    // Two rows until a merge: from before the first statement and from after the last one.
    expect(await rowsOf(stores, last.replace(' WHERE', ' FINAL WHERE'))).toEqual([record])
  })

  it('run once when two instances start together', async () => {
    await addFile('clickhouse/1002_rows.sql', `${createRows}\nINSERT INTO fixture_rows VALUES (2);`)
    const ran = await Promise.all([migrate(stores, root), migrate(stores, root)])
    expect(ran.flat()).toEqual(['clickhouse/1002_rows.sql'])
    expect(await readNumbers('fixture_rows')).toEqual([2])
  })

  it('are complete when the stored rows have what they change', async () => {
    await addFile(
      'clickhouse/0002_rows.sql',
      `${createRows}\nINSERT INTO fixture_rows SELECT number FROM numbers(10);
      ALTER TABLE fixture_rows ADD COLUMN IF NOT EXISTS half UInt32 MATERIALIZED n + sleepEachRow(0.1);
      ALTER TABLE fixture_rows MATERIALIZE COLUMN half;`,
    )
    expect(await migrate(stores, root)).toEqual(['clickhouse/0002_rows.sql'])
    const unfinished = 'SELECT command FROM system.mutations WHERE database = currentDatabase() AND NOT is_done'
    expect(await rowsOf(stores, unfinished)).toEqual([])
  })

  it('hold up no program that knows none of them, while one of them runs', async () => {
    const lease = await acquireLease(stores.postgres, 'migrate')
    expect(await migrate(stores)).toEqual([])
    await lease.release()
  })

  it.each([
    ['clickhouse', createRows],
    ['postgres', 'CREATE TABLE fixture (n integer);'],
  ])(
    'of %s of a later version are allowed by versions that may read, and imports by versions that may write',
    async (store, sql) => {
      const name = `${store}/1002_later.sql`
      await addFile(name, `-- readable from: 0.0.2\n-- writable from: 99.0.0\n${sql}`)
      // The statement has not run, but it may have: the file is recorded before.
      if (store === 'clickhouse') expect(await migrateUntil((text) => text.includes('fixture_rows'), root)).toBe(false)
      else await migrate(stores, root)
      expect(await migrate(stores)).toEqual([])
      const account = await makeAccount(stores)
      const refused = importContent(stores, account, 'clicks', [{ id: 'c1', clickedAt: '2026-11-20T10:00:00Z' }])
      await expect(refused).rejects.toThrow(new RegExp(`^${name} of .*only version 99\\.0\\.0 or later may write them`))
      expect(await rowsOf(stores, `SELECT 1 FROM clicks WHERE account_id = '${account}'`)).toEqual([])
    },
  )

  it.runIf(databaseUrl)('let other sessions read a table while they wait for its lock', async () => {
    await addFile('postgres/1002_fixture.sql', 'ALTER TABLE plans ADD COLUMN n integer;')
    let migration: Promise<unknown> | undefined
    await stores.postgres.begin(async (other) => {
      await other`SELECT FROM plans`
      migration = migrate(stores, root)
      const isWaiting = () =>
        stores.postgres`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE plans%'`
      await expect.poll(isWaiting).toHaveLength(1)
      // Hangs if the statement waited without a limit: this read waits behind it.
      await stores.postgres`SELECT FROM plans`
    })
    await migration
    await stores.postgres`ALTER TABLE plans DROP COLUMN n`
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
      // Before the second record of the file.
      let records = 0
      expect(await migrateUntil((_text, method) => method === 'insert' && ++records === 2, folder)).toBe(false)
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

  it('of Postgres are complete or leave nothing behind', async () => {
    await addFile('postgres/1002_fixture.sql', 'CREATE TABLE fixture (n integer);')
    await addFile('postgres/1003_wrong.sql', 'INSERT INTO fixture VALUES (1);\nSELECT 1 / 0;')
    await expect(migrate(stores, root)).rejects.toThrow('division by zero')
    const names = await stores.postgres`SELECT name FROM schema_migrations WHERE name LIKE '1%'`
    expect(names).toEqual([{ name: '1002_fixture.sql' }])
    expect(await stores.postgres`SELECT FROM fixture`).toEqual([])
  })

  it.each([
    ['', 'process:running'],
    [' of version 1.0', 'writer:acme'],
  ])('wait until an import%s that is running has ended', async (_, name) => {
    await addFile('clickhouse/1002_rows.sql', createRows)
    const lease = await acquireLease(stores.postgres, name)
    const migration = migrate(stores, root)
    const migrationLeases = () =>
      stores.postgres`SELECT 1 FROM leases WHERE name = 'migrate' AND expires_at > clock_timestamp()`
    await expect.poll(migrationLeases).toHaveLength(1)
    expect(await listFixtureTables()).toEqual([])
    await lease.release()
    expect(await migration).toEqual(['clickhouse/1002_rows.sql'])
  })

  it('are compared again when ClickHouse closes the connection', async () => {
    const read = vi.spyOn(stores.clickhouse.client, 'read').mockRejectedValueOnce(new Error('socket hang up'))
    expect(await migrate(stores).finally(() => read.mockRestore())).toEqual([])
  })

  it('stop once another process holds the lease', async () => {
    await addFile('clickhouse/1002_rows.sql', `${createRows}\n${createTotals}`)
    const systemNow = Date.now.bind(Date)
    let suspendedMs = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => systemNow() + suspendedMs)
    const suspended = interceptClickHouse(stores, async ({ text }) => {
      if (!text.includes('fixture_rows')) return
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
    expect(await migrate(stores, root)).toEqual(['clickhouse/1002_rows.sql'])
  })

  it.each(['postgres', 'clickhouse'])('of %s are refused by an earlier version, and after a change', async (store) => {
    const name = `${store}/1002_fixture.sql`
    await addFile(name, '-- readable from: 99.0.0\nSELECT 1;')
    await migrate(stores, root)
    const built = `\\(commit ${commit}\\)`
    await expect(migrate(stores)).rejects.toThrow(
      new RegExp(
        `^${name} of version ${version} ${built} has changed the tables, and only version 99\\.0\\.0 or later may read them; this is version ${version} ${built}\\. .*"tributary account export" .*"tributary account import" `,
      ),
    )
    const edited = await mkdtemp(join(tmpdir(), 'tributary-migrations-'))
    const textOf = async (sql: string) => {
      const folder = join(edited, sql.replaceAll(/\W/g, '-'))
      await cp(root, folder, { recursive: true })
      await writeFile(join(folder, name), sql)
      return folder
    }
    await expect(migrate(stores, await textOf('SELECT 2;'))).rejects.toThrow(
      `${name} has changed since version ${version} (commit ${commit}) ran it`,
    )
    // A comment may be corrected.
    expect(await migrate(stores, await textOf('-- Reads.\nSELECT 1; -- once'))).toEqual([])
    await rm(edited, { recursive: true })
  })
})

it('a statement of a migration of ClickHouse changes nothing when it arrives again later', async () => {
  // A process that was suspended before a statement sends it after another process has completed the migration.
  const repeatable = [
    /^CREATE (TABLE|(MATERIALIZED )?VIEW) IF NOT EXISTS /,
    /^ALTER TABLE \w+\s+(ADD \w+ IF NOT EXISTS|(DROP|CLEAR|MATERIALIZE) \w+ IF EXISTS|MATERIALIZE COLUMN|MODIFY (COLUMN|COMMENT|SETTING|TTL)) /,
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

/** @param isKilled whether the process is killed before this statement, or record of a file (`insert`) */
async function migrateUntil(isKilled: (text: string, method: string) => boolean, folder: string): Promise<boolean> {
  class Killed extends Error {}
  const killed = interceptClickHouse(stores, ({ text, method }) => {
    if (isKilled(text, method)) throw new Killed()
  })
  try {
    await migrate(killed, folder)
    return true
  } catch (error) {
    if (error instanceof Killed) return false
    throw error
  }
}
