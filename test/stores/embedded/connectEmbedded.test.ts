// @module-tag all

import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { optionalDependencies, packageRoot } from '../../../src/package.ts'
import { connectEmbedded } from '../../../src/stores/embedded/connectEmbedded.ts'
import { lockFile } from '../../../src/stores/embedded/fileLock.ts'
import { EmbeddedError, embeddedPathsOf } from '../../../src/stores/embedded/paths.ts'
import { until } from '../../kit/until.ts'
import { execute, type Folder, makeEmptyFolder, makeFolder, pool } from './folder.ts'

let folder: Folder
afterEach(() => folder.leave())

describe('attaching to the embedded engines', () => {
  it('starts one supervisor for processes that start at once, and keeps the engines when one of them detaches', async () => {
    folder = await makeFolder()
    // Sockets and files of dead processes are ignored.
    const run = join(folder.path, 'run')
    mkdirSync(run, { recursive: true })
    for (const name of ['control.sock', 'postgres.sock', 'supervisor.lock', 'clickhouse.json'])
      writeFileSync(join(run, name), 'stale')
    const [a, b, engines] = await Promise.all([folder.startClient(), folder.startClient(), folder.attach()])
    for (const client of [a, b])
      expect([client.clickhouse, client.postgres]).toEqual([engines.clickhouse, engines.postgres])
    await a.kill('SIGTERM')
    expect(await execute(engines.clickhouse ?? never(), 'SELECT 1')).toBe('1')
    expect(programs(folder)).toEqual(['clickhouse/engine', 'postgres/engine', 'supervisor'])
  })

  it('starts only the requested engine, ends the engines after the last client, and keeps rows for the next one', async () => {
    folder = await makeFolder()
    const first = await folder.attach({ postgres: false })
    expect([first.postgres, programs(folder)]).toEqual([undefined, ['clickhouse/engine', 'supervisor']])
    const second = await folder.attach({ clickhouse: false })
    expect(second.clickhouse).toBeUndefined()
    expect(programs(folder)).toEqual(['clickhouse/engine', 'postgres/engine', 'supervisor'])
    await execute(first.clickhouse ?? never(), 'CREATE DATABASE tributary')
    const sql = pool(second.postgres)
    await sql`CREATE TABLE kept (id int)`
    await sql.end()
    await Promise.all([first.close(), second.close()])
    await until(() => folder.processes().length === 0)

    const next = await folder.attach()
    expect(next.clickhouse).not.toEqual(first.clickhouse)
    expect(await execute(next.clickhouse ?? never(), 'EXISTS DATABASE tributary')).toBe('1')
    const again = pool(next.postgres)
    expect(await again`SELECT * FROM kept`).toEqual([])
    await again.end()
  })

  it('restarts the engines for a client that attaches while they stop', { tags: 'long' }, async () => {
    folder = await makeFolder()
    const first = await folder.attach()
    await first.close()
    await until(() => folder.processes().length < 3)
    const second = await folder.attach()
    expect(await execute(second.clickhouse ?? never(), 'SELECT 1')).toBe('1')
    const sql = pool(second.postgres)
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await sql.end()
  })

  it('works in a folder with a path that is too long for a socket', async () => {
    folder = await makeFolder()
    const deep = join(folder.path, 'a'.repeat(60), 'b'.repeat(60))
    mkdirSync(deep, { recursive: true })
    renameSync(join(folder.path, 'postgres'), join(deep, 'postgres'))
    const engines = await folder.attach({ dataDir: deep, clickhouse: false })
    const sql = pool(engines.postgres)
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await sql.end()
    await engines.close()
    rmSync(dirname(engines.postgres?.path ?? never()), { recursive: true })
  })
})

it('a folder with a restore that was interrupted is refused, and is free for the next restore at once', async () => {
  folder = makeEmptyFolder()
  mkdirSync(join(folder.path, 'restore.incomplete'))
  await expect(folder.attach()).rejects.toThrow(/a restore into this folder was interrupted; run tributary restore/)
  expect(await lockFile(embeddedPathsOf(folder.path).supervisorLock, 0)).toBeTruthy()
})

it.each([
  ['clickhouse', [null, 'SIGKILL']],
  ['postgres', [0, null]],
])('an engine ends when its supervisor dies before it has begun to listen: %s', async (engine, end) => {
  folder = await makeFolder()
  mkdirSync(join(folder.path, 'run'))
  const entry = join(packageRoot, 'dist/src/stores/embedded', engine, 'engine.js')
  const orphan = fork(entry, [folder.path], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const ended = once(orphan, 'exit')
  orphan.disconnect()
  expect(await ended).toEqual(end)
})

describe('an installation without the optional packages in their versions', () => {
  it('names the missing packages and the setting to use instead in one line', () => {
    const bare = makeBare()
    const { chdb, 'ffi-rs': ffi } = optionalDependencies
    expect(messageOf(bare, 'clickhouse')).toBe(
      `the optional packages chdb@${chdb} and ffi-rs@${ffi} are not installed; set CLICKHOUSE_URL or install them.\n`,
    )
    expect(messageOf(bare, 'postgres')).toMatch(/^the optional packages @electric-sql\/pglite@\S+ and .* DATABASE_URL/)
  })

  it('names the version that it needs, if another one is installed', () => {
    const bare = makeBare()
    for (const [name, needed] of Object.entries(optionalDependencies)) {
      const folder = join(bare, 'node_modules', name)
      mkdirSync(folder, { recursive: true })
      const version = name === 'ffi-rs' ? '99.0.0' : needed
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ version }))
    }
    expect(messageOf(bare, 'postgres')).toContain(
      `ffi-rs@${optionalDependencies['ffi-rs']} are not installed; set DATABASE_URL`,
    )
  })

  function makeBare(): string {
    folder = makeEmptyFolder()
    const bare = join(folder.path, 'bare')
    cpSync(join(packageRoot, 'dist'), join(bare, 'dist'), { recursive: true })
    cpSync(join(packageRoot, 'package.json'), join(bare, 'package.json'))
    return bare
  }
  const messageOf = (bare: string, wants: string) =>
    execFileSync(process.execPath, ['--input-type=module', '--eval', attempt, bare, wants], { encoding: 'utf8' })
  const attempt = `
    const [, bare, wanted] = process.argv
    const { connectEmbedded } = await import(bare + '/dist/src/stores/embedded/connectEmbedded.js')
    const wants = { clickhouse: wanted === 'clickhouse', postgres: wanted === 'postgres' }
    await connectEmbedded({ dataDir: bare + '/data', ...wants, log() {} }).catch((error) => console.log(error.message))`
})

describe('a folder that cannot be used is one clear line', () => {
  const both = { clickhouse: true, postgres: true }
  const clickhouse = { clickhouse: true, postgres: false }
  const postgres = { clickhouse: false, postgres: true }
  const write = (path: string, name: string, content: string) => {
    mkdirSync(path)
    writeFileSync(join(path, name), content)
  }
  const anyMode = (mode: number) => ({
    prepare: (path: string) => chmodSync(path, mode),
    message: (path: string) =>
      `its group or all users may write in the folder; run: chmod go-w ${path}, or choose another folder.`,
  })

  const cases: Record<
    string,
    { below?: string; wants?: typeof both; prepare(path: string): void; message: RegExp | ((path: string) => string) }
  > = {
    'it is a file': {
      below: 'file',
      prepare: (path) => writeFileSync(join(path, 'file'), ''),
      message: /: EEXIST: .*\.$/,
    },
    'it is in a file': {
      below: 'file/x',
      prepare: (path) => writeFileSync(join(path, 'file'), ''),
      message: /: ENOTDIR: .*\.$/,
    },
    'all users may write in it': anyMode(0o777),
    'all users may write in it, with the sticky bit': anyMode(0o1777),
    'its group may write in it': anyMode(0o770),
    'others may write in it': anyMode(0o702),
    'its Postgres files are of another version': {
      wants: postgres,
      prepare: (path) => write(join(path, 'postgres'), 'PG_VERSION', '17\n'),
      message: () => 'Postgres did not start: its folder belongs to Postgres 17, this is 18.',
    },
    'its Postgres files are incomplete, as during the restore of a backup': {
      wants: postgres,
      prepare: (path) => mkdirSync(join(path, 'postgres', 'base'), { recursive: true }),
      message: (path) =>
        `Postgres did not start: ${path}/postgres is not empty and contains no complete database; restore a backup, or remove it.`,
    },
    'a newer ClickHouse has used it': {
      wants: clickhouse,
      prepare: (path) => write(join(path, 'run'), 'clickhouse.json', '{"port":1,"password":"x","version":"99.1"}'),
      message: /: ClickHouse did not start: its folder was last used by version 99\.1, this is \d+\.\d+\.$/,
    },
    'the engine cannot open its files': {
      wants: clickhouse,
      prepare: (path) => mkdirSync(join(path, 'clickhouse', 'status'), { recursive: true }),
      message: /: ClickHouse did not start: .*status.*$/,
    },
  }

  it.each(Object.entries(cases))('when %s', async (_why, { below = '', wants = both, prepare, message }) => {
    folder = makeEmptyFolder()
    prepare(folder.path)
    const dataDir = join(folder.path, below)
    const before = readdirSync(folder.path)
    const error = await connectEmbedded({ dataDir, ...wants, log() {} }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(EmbeddedError)
    const text = (error as Error).message
    if (message instanceof RegExp) expect(text).toMatch(message)
    else expect(text).toBe(`DATA_DIR=${dataDir}: ${message(folder.path)}`)
    expect(text).toContain(`DATA_DIR=${dataDir}: `)
    expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(before))
  })

  it.skipIf(process.getuid?.() !== 0)('when it belongs to another user, who could replace its files', () => {
    folder = makeEmptyFolder()
    const shared = join(folder.path, 'shared')
    mkdirSync(shared)
    chownSync(shared, 1, 1)
    chmodSync(folder.path, 0o755)
    const program = `
      process.setuid(65534)
      const { createEmbeddedPaths } = await import('${packageRoot}/dist/src/stores/embedded/paths.js')
      try { createEmbeddedPaths(process.argv[1]) } catch (error) { console.log(error.message) }`
    const words = ['--input-type=module', '--eval', program, shared]
    expect(execFileSync(process.execPath, words, { encoding: 'utf8' })).toBe(
      `DATA_DIR=${shared}: the folder belongs to another user; choose one of your own.\n`,
    )
  })
})

function programs(of: Folder): string[] {
  return of
    .processes()
    .map(({ program }) => program)
    .sort()
}

function never(): never {
  throw new Error('the engine was not requested')
}
