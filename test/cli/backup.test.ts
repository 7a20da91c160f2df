// @module-tag all
// @module-tag node

import { execFileSync } from 'node:child_process'
import fs, { existsSync, readdirSync, statSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import timers from 'node:timers/promises'
import postgres from 'postgres'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { setPlanLimits } from '../../src/accounts/plans.ts'
import { buildApp } from '../../src/app.ts'
import { manifestOf, readContents } from '../../src/cli/backupFolder.ts'
import { commit, packageRoot, version } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { selectRows } from '../../src/stores/clickhouse/select.ts'
import { ch, type Fragment } from '../../src/stores/clickhouse/sql.ts'
import { lockFile } from '../../src/stores/embedded/fileLock.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { post } from '../api/events/send.ts'
import { hasStrace, runUntilCall } from '../faults/crashes/syscallKiller.ts'
import { importContent } from '../import/runImport.ts'
import { makeKey } from '../kit/accounts.ts'
import { engineTemplate } from '../kit/engineTemplate.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { changeTables } from '../kit/rows.ts'
import { until } from '../kit/until.ts'
import { commandFile, type Ended, expectOneLine, run, runHere, runJson } from './runCommand.ts'

const folder = useFolder()
const embedded = (name: string) => ({ DATA_DIR: folder(name), LOG_LEVEL: 'warn', PORT: '0' })
const copyTemplate = async (name: string) =>
  cp(await engineTemplate(), folder(name), { recursive: true, filter: (path) => basename(path) !== 'run' })
/** The engines of the store that is backed up stay up during the file. */
const stores = useOpened(async () => {
  await copyTemplate('source')
  const opened = await openStores(readSettings(embedded('source')), () => {})
  await migrate(opened)
  return opened
})
let key: string
/** The backup to the folder `quiet`. Each of its copies of Postgres takes 12 s. */
let retried: Awaited<ReturnType<typeof backUpSlowly>>

beforeAll(async () => {
  await runJson(['account', 'create', '--name', 'Acme', '--id', 'acme', '--plan', 'scale'], embedded('source'))
  await runJson(['demo', '--account', 'acme', '--clicks', '300', '--days', '3'], embedded('source'))
  const limits = { requestsPerMinute: 1_000_000, eventsPerMinute: 1_000_000, identifierEventsPerMinute: 1_000_000 }
  await setPlanLimits(stores.postgres, 'scale', limits)
  key = (await makeKey(stores, 'acme')).key
  await stores.postgres`
    INSERT INTO leases (name, owner, fence, expires_at)
    VALUES ('ended', 'x', 1, '2026-01-01'), ('endless', 'x', 1, 'infinity'), ('held', 'x', 1, '2099-01-01')`
  retried = await backUpSlowly('quiet', 12_000)
})

const leases = () => stores.postgres<{ name: string; isLater: boolean }[]>`
  SELECT name, expires_at::text NOT IN ('infinity', '2026-01-01 00:00:00+00', '2099-01-01 00:00:00+00') AS "isLater"
  FROM leases WHERE name IN ('ended', 'endless', 'held') ORDER BY name`

const restore = (backup: string, target: string) => runHere(['restore', folder(backup)], embedded(target))
const report = (name: string, ...range: string[]) =>
  runHere(['report', '--account', 'acme', '--group-by', 'country', '--format', 'csv', ...range], embedded(name))

/** Checks that a restored store is correct and has the same report as its source. */
async function expectEqualStores(name: string, ...range: string[]): Promise<void> {
  expect(await runJson(['verify'], embedded(name))).toEqual({ accounts: 1, differences: [], repaired: false })
  const expected = await report('source', ...range)
  expect(expected.stdout.split('\n').length).toBeGreaterThan(3)
  expect(await report(name, ...range)).toEqual(expected)
}

const dayMs = 86_400_000
const dayOf = (ago: number) => new Date(Date.now() - ago * dayMs).toISOString().slice(0, 10)

it('a backup taken during events, imports and changes has all that was acknowledged before, and verify finds nothing', async () => {
  const app = await buildApp({ settings: readSettings(embedded('source')), stores, now: Date.now })
  onTestFinished(() => app.close())
  const [click] = await selectRows<{ id: string }>(stores.clickhouse, ch`SELECT id FROM clicks LIMIT 1`, {
    label: 'test',
  })
  const acknowledged: string[] = []
  const statuses = new Set<number>()
  let isLoaded = true
  const sendEvents = async (client: number) => {
    for (let number = 0; isLoaded; number++) {
      const event = { click_id: click?.id, event_name: 'signup', event_id: `${client}-${number}` }
      statuses.add((await post(app, key, event)).statusCode)
      acknowledged.push(event.event_id)
    }
  }
  let imported = 0
  const importRows = async () => {
    for (let round = 0; isLoaded; round++) {
      const ids = Array.from({ length: 300 }, (_, index) => `import-${round}-${index}`)
      const clickedAt = `${dayOf(40 + (round % 3))}T10:00:00.000Z`
      const clicks = ids.map((id) => ({ id, clickedAt, campaignId: null, country: 'DE', cost: '0.01' }))
      const nowMs = Date.now()
      const first = await importContent(stores, 'acme', 'clicks', clicks, { nowMs })
      const changes = [round, round - 1].flatMap((of) => [
        {
          id: `conversion-${of}`,
          convertedAt: clickedAt,
          status: of === round ? 'pending' : 'approved',
          revenue: '1',
        },
      ])
      const second = await importContent(stores, 'acme', 'conversions', changes, { nowMs })
      expect([...first.rejects, ...second.rejects]).toEqual([])
      imported = ids.length * (round + 1)
    }
  }
  const load = Promise.all([importRows(), ...Array.from({ length: 2 }, (_, client) => sendEvents(client))])
  await until(() => acknowledged.length > 50 && imported > 0)
  const before = { events: [...acknowledged], imported }
  // In a process of its own: it copies files without a pause.
  const backup = await run(['backup', folder('loaded')], embedded('source'))
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  isLoaded = false
  await load
  expect([...statuses]).toEqual([200])

  expect((await restore('loaded', 'loaded-data')).code).toBe(0)
  // As after a kill of a backup of this store.
  await mkdir(folder('loaded-data', 'clickhouse', 'shadow', 'killed'), { recursive: true })
  await expectEqualStores('loaded-data', '--from', dayOf(10), '--to', dayOf(0))
  const restored = await openStores(readSettings(embedded('loaded-data')), () => {})
  onTestFinished(() => restored.close())
  const select = (query: Fragment) => selectRows<{ id: string }>(restored.clickhouse, query, { label: 'test' })
  const events = await select(ch`SELECT id FROM pixel_events FINAL WHERE account_id = 'acme'`)
  const stored = new Set(events.map(({ id }) => id))
  expect(before.events.filter((id) => !stored.has(id))).toEqual([])
  const rows = await select(ch`SELECT id FROM clicks FINAL WHERE account_id = 'acme' AND id LIKE 'import-%'`)
  expect(rows.length).toBeGreaterThanOrEqual(before.imported)
  expect(existsSync(folder('loaded-data', 'clickhouse', 'shadow'))).toBe(false)
})

/**
 * Backs up while each copy of Postgres takes some time, without the pauses between attempts.
 * @returns the end, the number of pauses, and the end of another backup in the first pause
 */
async function backUpSlowly(name: string, copyMs: number) {
  const copy = fs.cpSync
  const now = performance.now.bind(performance)
  let lateMs = 0
  performance.now = () => now() + lateMs
  fs.cpSync = (...values) => {
    if (String(values[0]).endsWith('postgres/PG_VERSION')) lateMs += copyMs
    copy(...values)
  }
  const wait = timers.setTimeout
  let pauses = 0
  let other: Ended | undefined
  const waitNot = async (...[ms, ...rest]: Parameters<typeof wait>) => {
    if (ms !== 5_000) return await wait(ms, ...rest)
    pauses += 1
    other ??= await runHere(['backup', folder('other')], embedded('source'))
  }
  Object.assign(timers, { setTimeout: waitNot })
  syncBuiltinESMExports()
  try {
    const ended = await runHere(['backup', folder(name)], embedded('source'))
    return { ended, other, pauses }
  } finally {
    Object.assign(fs, { cpSync: copy })
    Object.assign(timers, { setTimeout: wait })
    performance.now = now
    syncBuiltinESMExports()
  }
}

describe('a backup folder', () => {
  it('is readable by its owner only, and has every file with its digest', async () => {
    const manifest = JSON.parse(await readFile(folder('quiet', 'backup.json'), 'utf8'))
    expect(manifest.program).toEqual({ version, commit })
    const entries = readdirSync(folder('quiet'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    expect(manifest.files).toHaveLength(files.length - 1)
    // The files have the modes of the store, and other users cannot reach them.
    expect([folder('quiet'), folder('quiet', 'data')].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o700,
    ])
    // The links of its parts would keep replaced parts on the disk.
    expect(existsSync(folder('source', 'clickhouse', 'shadow'))).toBe(false)
  })

  it('is not replaced, not in DATA_DIR, and not left after a failure', async () => {
    const attempt = (path: string) => runHere(['backup', path], embedded('source'))
    expectOneLine(await attempt(folder('quiet')), 1, / already exists; /)
    expectOneLine(await attempt(folder('source', 'backup')), 1, /is in DATA_DIR, .* No backup was written/)
    expectOneLine(
      await attempt(folder('missing', 'backup')),
      1,
      /ENOENT.* No backup was written: run the command again\./,
    )
    expectOneLine(await attempt(folder('quiet', 'backup.json', 'x')), 1, /ENOTDIR.* No backup was written/)
    const entries = readdirSync(folder()).filter((name) => name.includes('incomplete'))
    expect(entries).toEqual([])
    expectOneLine(await runHere(['backup', folder('none')], embedded('none-data')), 1, /^error: there is no store in /)
    expect(existsSync(folder('none-data'))).toBe(false)
  })

  it('that takes too long gets more time, at most five times; meanwhile leases last, and another backup is refused', async () => {
    const again = /^copying Postgres takes longer than 8 s; trying again \(2 of 5\)\.\n$/
    expect(retried).toMatchObject({ ended: { code: 0, stderr: expect.stringMatching(again) }, pauses: 1 })
    expect(await leases()).toEqual([
      { name: 'ended', isLater: false },
      { name: 'endless', isLater: false },
      { name: 'held', isLater: true },
    ])
    expectOneLine(retried.other as Ended, 1, /another backup of this store is running/)
    const { ended: failed, pauses } = await backUpSlowly('slower', 50_000)
    expect([failed.code, pauses]).toEqual([1, 4])
    expect(failed.stderr).toMatch(/error: copying Postgres takes longer than 40 s\. No backup was written/)
  })

  it('is refused while a migration runs', async () => {
    await stores.postgres`
      INSERT INTO leases (name, owner, fence, expires_at) VALUES ('migrate', 'other', 1, now() + interval '1 hour')
      ON CONFLICT (name) DO UPDATE SET expires_at = excluded.expires_at`
    const ended = await runHere(['backup', folder('migrated')], embedded('source'))
    await stores.postgres`UPDATE leases SET expires_at = now() WHERE name = 'migrate'`
    expectOneLine(ended, 1, /a migration is running; run the command again after it\. No backup was written/)
    expect(existsSync(folder('migrated.incomplete'))).toBe(false)
  })

  it.each(['backup', 'restore'])('is for embedded engines: %s refuses servers', async (word) => {
    const servers = { ...embedded('source'), DATABASE_URL: 'postgres://localhost/x' }
    const ended = await runHere([word, folder('quiet')], servers)
    expectOneLine(ended, 1, /^error: DATABASE_URL names a server, .*docs\/restore\.md/)
  })
})

describe('a restore', () => {
  const versionFile = 'data/postgres/PG_VERSION'
  // A backup of one file: a restore reads no file as a database before it has compared all files with the manifest.
  beforeAll(async () => {
    await mkdir(folder('small', 'data', 'postgres'), { recursive: true })
    await writeFile(folder('small', versionFile), '16\n')
    const contents = await readContents(folder('small', 'data'), new AbortController().signal)
    await writeFile(folder('small', 'backup.json'), JSON.stringify(manifestOf(new Date(0), contents)))
  })
  const changeManifest = async (change: object) => {
    const path = folder('small', 'backup.json')
    const text = await readFile(path, 'utf8')
    await writeFile(path, JSON.stringify({ ...JSON.parse(text), ...change }))
    return () => writeFile(path, text)
  }
  const changeVersion = async (text: string) => {
    const before = await readFile(folder('small', versionFile), 'utf8')
    await writeFile(folder('small', versionFile), text)
    return () => writeFile(folder('small', versionFile), before)
  }
  const move = async (name: string) => {
    await rename(folder('small', name), folder('moved'))
    return () => rename(folder('moved'), folder('small', name))
  }

  it.each([
    ['a truncated file', () => changeVersion(''), /PG_VERSION has 0 bytes instead of 3; restore another backup\./],
    ['a changed file', () => changeVersion('17\n'), /PG_VERSION has changed since the backup/],
    ['a missing file', () => move(versionFile), /PG_VERSION is missing/],
    [
      'an additional file',
      async () => {
        await writeFile(folder('small', 'data', 'more'), '')
        return () => rm(folder('small', 'data', 'more'))
      },
      /more is not in backup\.json/,
    ],
    ['a missing manifest', () => move('backup.json'), /small is no complete backup: .*ENOENT/],
    [
      'a later version',
      () => changeManifest({ program: { version: '99.0.0', commit: 'abc' } }),
      /was written by version 99\.0\.0 \(commit abc\), and this is version .*; restore it with that version or a later/,
    ],
    ['a path out of the folder', () => changeManifest({ folders: ['postgres\n/../../x'] }), /a path below the folder/],
    ['a NUL in a folder', () => changeManifest({ folders: ['postgres\0'] }), /\/folders\/0: must be a path .* control/],
    [
      'a NUL in a file',
      () => changeManifest({ files: [{ path: 'a\0', bytes: 1, sha256: 'a'.repeat(64) }] }),
      /\/files\/0\/path: must be a path .* control/,
    ],
  ])('refuses a backup with %s before it writes', async (_fault, damage, line) => {
    const undo = await damage()
    onTestFinished(() => undo())
    expectOneLine(await restore('small', 'refused'), 1, line)
    expect(existsSync(folder('refused'))).toBe(false)
  })

  it('refuses a DATA_DIR that has a store, or is in use', async () => {
    expectOneLine(await restore('small', 'source'), 1, /is in use: stop its server/)
    await mkdir(folder('other', 'postgres', 'x'), { recursive: true })
    expectOneLine(await restore('small', 'other'), 1, /has a store; restore into an empty folder/)
    expect(readdirSync(folder('other', 'postgres'))).toEqual(['x'])
  })

  it('that is running is named by a command that opens the store', async () => {
    await mkdir(folder('restoring', 'restore.incomplete'), { recursive: true })
    await mkdir(folder('restoring', 'run'))
    const release = await lockFile(folder('restoring', 'run', 'supervisor.lock'), 0)
    onTestFinished(() => release?.())
    for (const words of [['verify'], ['account', 'list']]) {
      const opened = await runHere(words, embedded('restoring'))
      expectOneLine(opened, 1, /DATA_DIR=\S+: a restore into this folder is running; wait until it ends\.$/m)
    }
  })
})

describe.skipIf(!hasPostgres())('a store with ClickHouse embedded and PostgreSQL on a server', { tags: 'long' }, () => {
  const server = useOpened(() => startPostgres())

  it('is restored by the commands of docs/restore.md', async () => {
    const text = await readFile(join(packageRoot, 'docs/restore.md'), 'utf8')
    const [, section = ''] = text.split('### ClickHouse embedded, PostgreSQL on a server\n')
    const blocks = [...section.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block = '']) => block)
    const [copy = '', restored = ''] = blocks
    const paste = (commands: string, environment: Record<string, string>) =>
      execFileSync('sh', ['-ec', `tributary() { node "${commandFile}" "$@"; }\n${commands}`], {
        cwd: folder(),
        encoding: 'utf8',
        env: { PATH: process.env.PATH, ...environment },
      })
    const from = { ...embedded('mixed'), DATABASE_URL: server.url('tributary') }
    expect((await runHere(['migrate'], from)).code).toBe(0)
    await runJson(['account', 'create', '--name', 'Acme', '--id', 'acme'], from)
    await runJson(['demo', '--account', 'acme', '--clicks', '300', '--days', '3'], from)
    // The engine still runs.
    paste(copy, from)
    const admin = postgres(server.url('postgres'), { max: 1 })
    await admin`CREATE DATABASE restored`
    await admin.end()
    const to = { ...embedded('mixed-restored'), DATABASE_URL: server.url('restored') }
    expect(paste(restored, to)).toMatch(/^1 account compared: every sum and index agrees with the rows\.$/m)
    const reportOf = (store: Record<string, string>) =>
      runHere(['report', '--account', 'acme', '--group-by', 'country', '--days', '10', '--format', 'csv'], store)
    const expected = await reportOf(from)
    expect(expected.stdout.split('\n').length).toBeGreaterThan(3)
    expect(await reportOf(to)).toEqual(expected)
  })
})

it('a disk that is full fails the backup, which leaves nothing, and the restore, which is completed with more space', {
  tags: 'long',
}, async ({ skip }) => {
  const disk = folder('disk')
  await mkdir(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=30m,mode=700', 'tmpfs', disk], { stdio: 'pipe' })
  } catch {
    skip('mounting a disk is not allowed here')
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
  const ended = await runHere(['backup', join(disk, 'backup')], embedded('source'))
  expectOneLine(ended, 1, /^error: ENOSPC.* No backup was written: run the command again\./)
  expect(readdirSync(disk)).toEqual([])
  expect((await restore('quiet', 'disk')).stderr).toMatch(/^error: ENOSPC.* is incomplete: run it again\.\n$/)
  expect((await runHere(['verify'], embedded('disk'))).stderr).toMatch(/a restore into this folder was interrupted/)
  execFileSync('mount', ['-o', 'remount,size=1g', disk])
  expect((await restore('quiet', 'disk')).code).toBe(0)
  await expectEqualStores('disk', '--days', '10')
})

it('damaged bytes are named by verify, which compares the other accounts, by backup and by doctor', async () => {
  const environment = embedded('damaged')
  await copyTemplate('damaged')
  const damaged = await openStores(readSettings(environment), () => {})
  onTestFinished(() => damaged.close())
  for (const [id, month] of [
    ['acme', '10'],
    ['beta', '11'],
  ] as const) {
    await runJson(['account', 'create', '--name', id, '--id', id], environment)
    const clicks = [{ id: 'c1', clickedAt: `2026-${month}-01T10:00:00Z`, cost: 1 }]
    expect((await importContent(damaged, id, 'clicks', clicks)).rejects).toEqual([])
  }
  const [part] = await selectRows<{ path: string }>(
    { reader: damaged.clickhouse.client, onQuery: undefined },
    ch`SELECT path FROM system.parts WHERE table = 'clicks' AND partition = '202610' AND active`,
    { label: 'test' },
  )
  const file = join(part?.path ?? '', 'data.bin')
  const bytes = await readFile(file)
  await writeFile(file, bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 9))
  await changeTables(damaged, "ALTER TABLE click_index DELETE WHERE account_id = 'beta'")
  const found = `clicks, part ${part?.path}: Checksum mismatch for file data.bin`

  const verified = await runHere(['verify'], environment)
  expect([verified.code, verified.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: Restore a backup; .*Run verify with --repair to repair the other differences\.\n$/),
  ])
  expect(verified.stdout.split('\n')).toEqual([
    expect.stringContaining(`acme clicks: part ${part?.path} is damaged: Checksum mismatch for file data.bin`),
    'beta click_index 2026-11-01: 1 row missing, wrong or superfluous',
    '2 accounts compared: 2 differences.',
    '',
  ])
  expect((await runHere(['doctor'], environment)).stdout).toContain(
    `FAIL  files of ClickHouse: It cannot read ${found}`,
  )
  expectOneLine(await runHere(['backup', folder('of-damaged')], environment), 1, `cannot read ${found}`)
  expectOneLine(await runHere(['export', 'clicks', '--account', 'acme'], environment), 1, `cannot read clicks, part `)
})

it.skipIf(!hasStrace()).each([
  ['mkdir', [1, 2, 30, 300]],
  ['rename', [1, 2, 3, 4]],
  ['fsync', [1, 100, 1500]],
  ['unlink', [1, 100, 400]],
  ['write', [5, 20, 40, 80, 160]],
] as const)(
  'a command that is killed by the kernel before a call of %s is repeated or refused',
  { tags: 'long' },
  async (call, counts) => {
    let kills = 0
    for (const at of counts) {
      const instant = { call, at }
      const cut = await runUntilCall(['backup', folder('killed')], embedded('source'), instant)
      kills += cut.code === null ? 1 : 0
      expect([instant, existsSync(folder('killed', 'backup.json'))]).toEqual([instant, existsSync(folder('killed'))])
      await rm(folder('killed'), { recursive: true, force: true })
      await runJson(['backup', folder('killed')], embedded('source'))
      const half = await runUntilCall(['restore', folder('killed')], embedded('killed-data'), instant)
      kills += half.code === null ? 1 : 0
      const opened = await runHere(['verify', '--json'], embedded('killed-data'))
      // Refused, complete, or a folder without any store.
      if (opened.code === 0) expect([0, 1]).toContain(JSON.parse(opened.stdout).accounts)
      else expect(opened.stderr).toMatch(/a restore into this folder was interrupted/)
      const isWhole = opened.code === 0 && JSON.parse(opened.stdout).accounts === 1
      if (opened.code === 0 && !isWhole)
        await rm(folder('killed-data'), { recursive: true, maxRetries: 40, retryDelay: 250 })
      if (!isWhole) expect([instant, await restore('killed', 'killed-data')]).toMatchObject([instant, { code: 0 }])
      await expectEqualStores('killed-data', '--days', '10')
      for (const name of ['killed', 'killed-data'])
        await rm(folder(name), { recursive: true, maxRetries: 40, retryDelay: 250 })
    }
    expect(kills).toBeGreaterThan(0)
  },
)
