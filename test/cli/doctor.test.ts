// @module-tag long

import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { examineBackup, examineRuntime } from '../../src/cli/doctor.ts'
import { causeOf } from '../../src/expectedError.ts'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { openStores } from '../../src/stores/open.ts'
import { fillDisk } from '../faults/fullDisk.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { canFakeClocks, createFakeClock } from '../kit/fakeClock.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { hasRedis, startRedis } from '../kit/redis.ts'
import { changeTables } from '../kit/rows.ts'
import { freePort } from '../kit/serverProcess.ts'
import { until } from '../kit/until.ts'
import { commandFile, run, runHere } from './runCommand.ts'

type Environment = Record<string, string>
/** A fault: what it changes, the line that finds it, and what the line says. */
type Fault = [name: string, check: string, found: RegExp, plant: () => Promise<Environment | undefined>]

const folder = useFolder()
const cures: (() => unknown)[] = []
afterEach(async () => {
  for (const cure of cures.splice(0)) await cure()
})

/** Plants a fault, which another change takes away after the test. */
const planted = (plant: () => unknown, cure: () => unknown) => async () => {
  await plant()
  cures.push(cure)
  return undefined
}

async function failuresOf(environment: Environment): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await run(['doctor', '--json'], environment)
  expect(stdout, stderr).not.toBe('')
  const checks: { check: string; found: string; mend: string; isWarning?: true }[] = JSON.parse(stdout).checks
  const failed = checks.filter(({ found, isWarning }) => found !== '' && !isWarning)
  expect(code).toBe(failed.length > 0 ? 1 : 0)
  for (const { mend } of checks) expect(mend).toMatch(/^[A-Z].*\.$/)
  return Object.fromEntries(failed.map(({ check, found }) => [check, found]))
}

async function expectFault(healthy: Environment, [, check, found, plant]: Fault): Promise<void> {
  const changed = await plant()
  expect(await failuresOf({ ...healthy, ...changed })).toEqual({ [check]: expect.stringMatching(found) })
}

it('an error without a message is a failure with a cause', () => {
  // A refused connection to a host with two addresses.
  const refused = new AggregateError([], '')
  expect(causeOf(Object.assign(refused, { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED')
  expect(causeOf(new AggregateError([], ''))).toBe('AggregateError')
})

it('warns of a Node.js without fixes and of zone data older than a year', () => {
  const foundAt = (date: string, node: string, zones: string) =>
    examineRuntime(Date.parse(date), { node, zones }).map(({ found }) => found !== '')
  expect(foundAt('2026-04-30', '20.20.2', '2025c')).toEqual([false, false])
  expect(foundAt('2026-05-01', '20.20.2', '2025c')).toEqual([true, false])
  expect(foundAt('2026-07-02', '22.12.0', '2025c')).toEqual([false, true])
  expect(foundAt('2026-07-02', '24.1.0', '2026a')).toEqual([false, false])
  expect(foundAt('2030-01-01', '24.1.0', '2026a')).toEqual([true, true])
  for (const { mend, isWarning } of examineRuntime(0))
    expect([mend, isWarning]).toEqual([expect.stringMatching(/\.$/), true])
  expect(examineRuntime(0).map(({ check }) => check)).toContain(`zone data ${process.versions.tz}`)
})

it('warns of an embedded ClickHouse beside PostgreSQL on a server, which tributary backup does not copy', () => {
  const foundOf = (...names: string[]) => examineBackup(Object.fromEntries(names.map((name) => [name, 'x']))).found
  expect(foundOf('DATABASE_URL')).toContain('embedded ClickHouse')
  for (const names of [[], ['DATABASE_URL', 'CLICKHOUSE_URL']]) expect(foundOf(...names)).toBe('')
})

describe.skipIf(!hasPostgres() || !hasRedis())('doctor on servers', () => {
  const clickhouse = useOpened(async () => {
    const logs = readFileSync(join(packageRoot, 'deploy/clickhouse-logs.xml'), 'utf8')
    const [, configXml = ''] = /<clickhouse>(.*)<\/clickhouse>/s.exec(logs) ?? []
    return await startClickHouse(undefined, { configXml, tcpPort: await freePort() })
  })
  const server = useOpened(() => startPostgres())
  const redis = useOpened(() => startRedis())
  let healthy: Environment
  let admin: ReturnType<typeof postgres>

  beforeAll(async () => {
    const url = new URL(server.url('tributary'))
    admin = postgres(url.href, { max: 1, onnotice: () => {} })
    await admin.unsafe(
      'CREATE ROLE app LOGIN; ALTER DATABASE tributary OWNER TO app; GRANT ALL ON SCHEMA public TO app',
    )
    url.username = 'app'
    healthy = {
      DATABASE_URL: url.href,
      REDIS_URL: redis.url,
      CLICKHOUSE_URL: clickhouse.url('tributary_writer'),
      CLICKHOUSE_READER_URL: clickhouse.url('tributary_reader'),
    }
    const owner = { ...healthy, CLICKHOUSE_URL: clickhouse.url('tributary_owner') }
    expect((await runHere(['migrate'], owner)).code).toBe(0)
  })
  afterAll(() => admin?.end())

  const statements = (does: string, undoes: string) =>
    planted(
      () => admin.unsafe(does),
      () => admin.unsafe(undoes),
    )
  const serverSetting = (name: string) => {
    const set = async (value: 'on' | 'off') => {
      await admin.unsafe(`ALTER SYSTEM SET ${name} = ${value}`)
      await admin`SELECT pg_reload_conf()`
      // Each process of PostgreSQL reads its configuration again some time later.
      await until(
        async () =>
          (await admin<{ setting: string }[]>`SELECT current_setting(${name}) AS setting`)[0]?.setting === value,
      )
    }
    return planted(
      () => set('off'),
      () => set('on'),
    )
  }
  const alterClicks = (setting: string) =>
    clickhouse.run('admin', `ALTER TABLE tributary.clicks MODIFY SETTING ${setting}`)

  it('finds nothing wrong, changes nothing, and prints a line per check', async () => {
    await clickhouse.run('admin', 'SYSTEM FLUSH LOGS')
    const { code, stdout, stderr } = await run(['doctor'], healthy)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n').filter(Boolean)).toSatisfy((lines: string[]) =>
      lines.every((line) => /^(ok {4}\w|WARN {2}(Node\.js|zone data) )/.test(line)),
    )
    expect(stdout).toContain('fsync of ClickHouse')
    const tables = `SELECT countIf(engine_full LIKE '% TTL %\\_date + toIntervalDay(%'), count() FROM system.tables
      WHERE database = 'system' AND engine = 'MergeTree'`
    expect(await clickhouse.run('admin', tables)).toBe('15\t15')
  })

  it.each<Fault>([
    [
      'a PostgreSQL that is down',
      'settings',
      /^DATABASE_URL: Postgres does not respond/,
      async () => ({ DATABASE_URL: 'postgres://app@127.0.0.1:1/tributary' }),
    ],
    [
      'a wrong password of ClickHouse',
      'settings',
      /^CLICKHOUSE_URL: ClickHouse rejects the connection/,
      async () => ({ CLICKHOUSE_URL: clickhouse.url('tributary_writer').replace(':tributary_writer@', ':wrong@') }),
    ],
    ['a Redis that is down', 'Redis', /./, async () => ({ REDIS_URL: 'redis://127.0.0.1:1/0' })],
    ['a feed with a port and no token', 'settings', /^FEED_TOKEN: is required/, async () => ({ FEED_PORT: '3100' })],
    ['fsync = off', 'fsync of PostgreSQL', /^fsync is off\.$/, serverSetting('fsync')],
    [
      'two settings that are off',
      'fsync of PostgreSQL',
      /^full_page_writes is off\. synchronous_commit is off\.$/,
      async () => {
        await serverSetting('full_page_writes')()
        return await statements(
          'ALTER ROLE app SET synchronous_commit = off',
          'ALTER ROLE app RESET synchronous_commit',
        )()
      },
    ],
    [
      'a role without a privilege',
      'grants in PostgreSQL',
      /^The user of DATABASE_URL lacks DELETE on leases\.$/,
      statements('REVOKE DELETE ON leases FROM app', 'GRANT DELETE ON leases TO app'),
    ],
    [
      'a writer that may only read',
      'grants in ClickHouse',
      /^The user of CLICKHOUSE_URL lacks: GRANT SELECT, INSERT, .*\.$/,
      async () => ({ CLICKHOUSE_URL: clickhouse.url('tributary_reader') }),
    ],
    [
      'a reader that may write',
      'grants in ClickHouse',
      /^The user of CLICKHOUSE_READER_URL may write\.$/,
      async () => ({ CLICKHOUSE_READER_URL: clickhouse.url('tributary_writer') }),
    ],
    [
      'a table that is not synced',
      'fsync of ClickHouse',
      / acknowledged rows of clicks\.$/,
      planted(
        () => alterClicks('fsync_after_insert = 0'),
        () => alterClicks('fsync_after_insert = 1'),
      ),
    ],
    [
      'logs that have no limit and are larger than the data',
      'logs of ClickHouse',
      /^Its log tables without a TTL have 1\d\d\.\d\d MiB, the data \d+\.\d\d \wi?B\.$/,
      async () => {
        await clickhouse.run('admin', 'CREATE TABLE system.text_log_0 (message String) ENGINE = MergeTree ORDER BY ()')
        await clickhouse.run('admin', 'INSERT INTO system.text_log_0 SELECT randomString(1000000) FROM numbers(120)')
        cures.push(() => clickhouse.run('admin', 'DROP TABLE system.text_log_0 SYNC'))
        return undefined
      },
    ],
    [
      'a replicated table',
      'tables of ClickHouse',
      /^Without it, rows of replicated tables are acknowledged with one copy: replicated_clicks\.$/,
      async () => {
        // Without Keeper a table can be attached, not created.
        const path = `'/clickhouse/tables/one/replicated_clicks', 'one'`
        await clickhouse.run(
          'admin',
          `ATTACH TABLE tributary.replicated_clicks UUID '${randomUUID()}' (id String)
           ENGINE = ReplicatedMergeTree(${path}) ORDER BY id
           SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_compressed_bytes_to_fsync_after_fetch = 1`,
        )
        cures.push(() => clickhouse.run('admin', 'DETACH TABLE tributary.replicated_clicks'))
        return undefined
      },
    ],
  ])('finds %s', async (...fault) => {
    await expectFault(healthy, fault)
  })

  it('warns of users of version 1.0, which may not see the logs of ClickHouse', async () => {
    const { code, stdout } = await run(['doctor'], { ...healthy, CLICKHOUSE_URL: clickhouse.url('former_writer') })
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^WARN {2}grant for the logs of ClickHouse: /m)])
  })

  it('creates neither a missing database nor an embedded engine', async () => {
    const onlyPostgres = { DATABASE_URL: healthy.DATABASE_URL as string }
    const wrong = { ...onlyPostgres, CLICKHOUSE_URL: clickhouse.url('admin').replace(/tributary$/, 'tributray') }
    const rejected = expect.stringMatching(/^CLICKHOUSE_URL: ClickHouse rejects the connection: .*tributray/)
    // The second run would find a database that the first one created.
    for (const _ of [1, 2]) expect(await failuresOf(wrong)).toEqual({ settings: rejected })
    const found = expect.stringMatching(/there is no store of clickhouse; run tributary migrate\.$/)
    expect(await failuresOf({ ...onlyPostgres, DATA_DIR: folder('absent') })).toEqual({ settings: found })
    expect(existsSync(folder('absent'))).toBe(false)
  })

  it.skipIf(!canFakeClocks())('finds clocks that differ from the clock of this machine', async () => {
    const clock = await createFakeClock(folder('clock'))
    await clock.set('-3')
    const differs = expect.stringMatching(/^It differs from this machine by [23](\.\d)? s\.$/)
    const both = { 'clock of PostgreSQL': differs, 'clock of ClickHouse': differs }
    expect(await failuresOf({ ...healthy, ...clock.environment })).toEqual(both)
  })
})

describe('doctor on embedded engines', () => {
  let healthy: Environment
  beforeAll(async () => {
    healthy = { DATA_DIR: folder('data') }
    expect((await runHere(['migrate'], healthy)).code).toBe(0)
  })

  /** Runs statements in the stores, which end with this process. */
  const inStores = async (work: (stores: Awaited<ReturnType<typeof openStores>>) => Promise<unknown>) => {
    const stores = await openStores(readSettings(healthy), () => {})
    await work(stores)
    await stores.close()
  }

  it('finds nothing wrong', async () => {
    expect(await failuresOf(healthy)).toEqual({})
  })

  it.each<Fault>([
    ['an invalid setting', 'settings', /^LOG_LEVEL=loud: expected/, async () => ({ LOG_LEVEL: 'loud' })],
    [
      'a reader without its database',
      'settings',
      /^CLICKHOUSE_READER_URL: CLICKHOUSE_URL is not set\.$/,
      async () => ({ CLICKHOUSE_READER_URL: 'http://127.0.0.1:1/' }),
    ],
    [
      'a cluster without its database',
      'settings',
      /^CLICKHOUSE_CLUSTER: CLICKHOUSE_URL is not set\.$/,
      async () => ({ CLICKHOUSE_CLUSTER: 'one' }),
    ],
    ['a folder without a store', 'settings', /there is no store/, async () => ({ DATA_DIR: folder('none') })],
    [
      'a folder in which others may write',
      'settings',
      /may write in the folder; run: chmod go-w/,
      planted(
        () => chmodSync(folder('data'), 0o777),
        () => chmodSync(folder('data'), 0o700),
      ),
    ],
    [
      'tables of another build',
      'tables',
      /^postgres: the tables were created by another build/,
      planted(
        () => inStores(({ postgres: sql }) => sql`UPDATE schema_migrations SET version = checksum, checksum = 'x'`),
        () => inStores(({ postgres: sql }) => sql`UPDATE schema_migrations SET checksum = version`),
      ),
    ],
    [
      'a table that is not synced',
      'fsync of ClickHouse',
      / acknowledged rows of pixel_events\.$/,
      () => {
        const alter = (value: number) =>
          inStores((stores) =>
            changeTables(stores, `ALTER TABLE pixel_events MODIFY SETTING fsync_part_directory = ${value}`),
          )
        return planted(
          () => alter(0),
          () => alter(1),
        )()
      },
    ],
  ])('finds %s', async (...fault) => {
    await expectFault(healthy, fault)
  })

  it.skipIf(!canFakeClocks())('finds an engine with another clock', async () => {
    const clock = await createFakeClock(folder('other-clock'))
    await clock.set('+5')
    // Engines that run have the true time; the command has another one.
    const stores = await openStores(readSettings(healthy), () => {})
    onTestFinished(() => stores.close())
    const failed = await failuresOf({ ...healthy, ...clock.environment })
    expect(Object.keys(failed)).toEqual(['clock of PostgreSQL', 'clock of ClickHouse'])
  })

  it('finds a limit of open files that is too low', () => {
    const script = `ulimit -n 1000 && "${process.execPath}" "${commandFile}" doctor || true`
    const printed = execFileSync('sh', ['-c', script], {
      env: { PATH: process.env.PATH, ...healthy },
      encoding: 'utf8',
    })
    expect(printed).toMatch(/^FAIL {2}open files: The limit is 1000; .* Raise LimitNOFILE .*\.$/m)
  })

  it('finds a disk that is almost full', async ({ skip }) => {
    const disk = folder('disk')
    mkdirSync(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=500m,mode=700', 'tmpfs', disk], { stdio: 'pipe' })
    } catch {
      skip('mounting a disk is not allowed here')
    }
    onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
    const onDisk = { DATA_DIR: disk }
    expect((await runHere(['migrate'], onDisk)).code).toBe(0)
    const stores = await openStores(readSettings(onDisk), () => {})
    onTestFinished(() => stores.close())
    cures.push(await fillDisk(disk))
    const percent = expect.stringMatching(/^[0-4](\.\d)? % of its disk are free\.$/)
    expect(await failuresOf(onDisk)).toEqual({ 'free space of ClickHouse': percent })
  })
})
