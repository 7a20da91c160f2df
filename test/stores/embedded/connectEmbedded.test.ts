import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { connectEmbedded } from '../../../src/stores/embedded/connectEmbedded.ts'
import { EmbeddedError } from '../../../src/stores/embedded/paths.ts'
import { execute, type Folder, makeEmptyFolder, makeFolder, pool, until } from './folder.ts'

let folder: Folder
afterEach(() => folder.leave())

describe('attaching to the embedded engines', () => {
  it('starts both engines on an empty folder', { tags: 'long' }, async () => {
    folder = makeEmptyFolder()
    const engines = await folder.attach()
    const sql = pool(engines.postgres)
    expect(await execute(engines.clickhouse ?? never(), 'SELECT timezone()')).toBe('UTC')
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await sql.end()
  })

  it('starts only the requested engine, and the other one on request', async () => {
    folder = makeFolder()
    const first = await folder.attach({ postgres: false })
    expect(first.postgres).toBeUndefined()
    expect(programs(folder)).toEqual(['clickhouse/engine', 'supervisor'])
    const second = await folder.attach({ clickhouse: false })
    expect(second.clickhouse).toBeUndefined()
    expect(programs(folder)).toEqual(['clickhouse/engine', 'postgres/engine', 'supervisor'])
  })

  it('shares the engines between processes, and keeps them when one detaches', async () => {
    folder = makeFolder()
    const client = await folder.startClient()
    const engines = await folder.attach()
    expect(engines.clickhouse).toEqual(client.clickhouse)
    expect(engines.postgres).toEqual(client.postgres)
    await client.kill('SIGTERM')
    expect(await execute(engines.clickhouse ?? never(), 'SELECT 1')).toBe('1')
    expect(programs(folder)).toEqual(['clickhouse/engine', 'postgres/engine', 'supervisor'])
  })

  it('ends with one supervisor when several processes start at once', async () => {
    folder = makeFolder()
    const [a, b, engines] = await Promise.all([folder.startClient(), folder.startClient(), folder.attach()])
    expect(a.clickhouse).toEqual(engines.clickhouse)
    expect(b.clickhouse).toEqual(engines.clickhouse)
    expect(programs(folder)).toEqual(['clickhouse/engine', 'postgres/engine', 'supervisor'])
  })

  it('ends the engines after the last client has detached, and keeps stored rows for the next one', async () => {
    folder = makeFolder()
    const first = await folder.attach()
    await execute(first.clickhouse ?? never(), 'CREATE DATABASE tributary')
    const sql = pool(first.postgres)
    await sql`CREATE TABLE kept (id int)`
    await sql.end()
    await first.close()
    await until(() => folder.processes().length === 0)

    const second = await folder.attach()
    expect(second.clickhouse).not.toEqual(first.clickhouse)
    expect(await execute(second.clickhouse ?? never(), 'EXISTS DATABASE tributary')).toBe('1')
    const again = pool(second.postgres)
    expect(await again`SELECT * FROM kept`).toEqual([])
    await again.end()
  })

  it('restarts the engines for a client that attaches while they stop', { tags: 'long' }, async () => {
    folder = makeFolder()
    const first = await folder.attach()
    await first.close()
    await until(() => folder.processes().length < 3)
    const second = await folder.attach()
    expect(await execute(second.clickhouse ?? never(), 'SELECT 1')).toBe('1')
    const sql = pool(second.postgres)
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await sql.end()
  })

  it('ignores sockets and files of dead processes', async () => {
    folder = makeFolder()
    const run = join(folder.path, 'run')
    mkdirSync(run, { recursive: true })
    for (const name of ['control.sock', 'postgres.sock', 'supervisor.lock', 'clickhouse.json']) {
      writeFileSync(join(run, name), 'stale')
    }
    const engines = await folder.attach()
    expect(await execute(engines.clickhouse ?? never(), 'SELECT 1')).toBe('1')
  })

  it('works in a folder with a path that is too long for a socket', async () => {
    folder = makeFolder()
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

describe('an engine', () => {
  it.each([
    ['clickhouse', [null, 'SIGKILL']],
    ['postgres', [0, null]],
  ])('ends when its supervisor dies before it has begun to listen: %s', async (engine, end) => {
    folder = makeFolder()
    mkdirSync(join(folder.path, 'run'))
    const entry = join(packageRoot, 'dist/src/stores/embedded', engine, 'engine.js')
    const orphan = fork(entry, [folder.path], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    const ended = once(orphan, 'exit')
    orphan.disconnect()
    expect(await ended).toEqual(end)
  })
})

describe('an installation without the optional packages', () => {
  it('names the missing packages and the setting to use instead in one line', () => {
    folder = makeEmptyFolder()
    const bare = join(folder.path, 'bare')
    cpSync(join(packageRoot, 'dist'), join(bare, 'dist'), { recursive: true })
    cpSync(join(packageRoot, 'package.json'), join(bare, 'package.json'))
    const message = (wants: string) =>
      execFileSync(process.execPath, ['--input-type=module', '--eval', attempt, bare, wants], { encoding: 'utf8' })
    expect(message('clickhouse')).toBe(
      'the optional packages chdb and ffi-rs are not installed; set CLICKHOUSE_URL or install them.\n',
    )
    expect(message('postgres')).toBe(
      'the optional packages @electric-sql/pglite and ffi-rs are not installed; set DATABASE_URL or install them.\n',
    )
  })

  const attempt = `
    const [, bare, wanted] = process.argv
    const { connectEmbedded } = await import(bare + '/dist/src/stores/embedded/connectEmbedded.js')
    const wants = { clickhouse: wanted === 'clickhouse', postgres: wanted === 'postgres' }
    await connectEmbedded({ dataDir: bare + '/data', ...wants, log() {} }).catch((error) => console.log(error.message))`
})

describe('a folder that cannot be used is one clear line', () => {
  const refusal = async (dataDir: string, wants: { clickhouse: boolean; postgres: boolean }) => {
    const attempt = connectEmbedded({ dataDir, ...wants, log() {} })
    const error = await attempt.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(EmbeddedError)
    return (error as Error).message
  }

  it('when it is a file', async () => {
    folder = makeEmptyFolder()
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    expect(await refusal(file, { clickhouse: true, postgres: true })).toBe(`DATA_DIR=${file}: not a folder (EEXIST).`)
    const below = join(file, 'below')
    expect(await refusal(below, { clickhouse: true, postgres: true })).toBe(
      `DATA_DIR=${below}: not a folder (ENOTDIR).`,
    )
  })

  it.each([0o777, 0o1777, 0o770, 0o702])('when other users may write in it: %o', async (mode) => {
    folder = makeEmptyFolder()
    chmodSync(folder.path, mode)
    expect(await refusal(folder.path, { clickhouse: true, postgres: true })).toBe(
      `DATA_DIR=${folder.path}: its group or all users may write in the folder; run: chmod go-w ${folder.path}, or choose another folder.`,
    )
    expect(readdirSync(folder.path)).toEqual([])
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

  it.runIf(process.platform === 'linux')('when the file system rejects new folders', async () => {
    expect(await refusal('/proc/nowhere', { clickhouse: true, postgres: true })).toBe(
      'DATA_DIR=/proc/nowhere: cannot be used (ENOENT).',
    )
  })

  it('when its Postgres files are of another version', async () => {
    folder = makeEmptyFolder()
    mkdirSync(join(folder.path, 'postgres'))
    writeFileSync(join(folder.path, 'postgres', 'PG_VERSION'), '17\n')
    expect(await refusal(folder.path, { clickhouse: false, postgres: true })).toBe(
      `DATA_DIR=${folder.path}: Postgres did not start: its folder belongs to Postgres 17, this is 18.`,
    )
  })

  it('when its Postgres files are incomplete, as during the restore of a backup, and keeps them', async () => {
    folder = makeEmptyFolder()
    const half = join(folder.path, 'postgres')
    mkdirSync(join(half, 'base'), { recursive: true })
    expect(await refusal(folder.path, { clickhouse: false, postgres: true })).toBe(
      `DATA_DIR=${folder.path}: Postgres did not start: ${half} is not empty and contains no complete database; restore a backup, or remove it.`,
    )
    expect(readdirSync(half)).toEqual(['base'])
  })

  it('when a newer ClickHouse has used it', async () => {
    folder = makeEmptyFolder()
    mkdirSync(join(folder.path, 'run'))
    writeFileSync(join(folder.path, 'run', 'clickhouse.json'), '{"port":1,"password":"x","version":"99.1"}')
    expect(await refusal(folder.path, { clickhouse: true, postgres: false })).toMatch(
      /^DATA_DIR=.*: ClickHouse did not start: its folder was last used by version 99\.1, this is \d+\.\d+\.$/,
    )
  })

  it('when the engine cannot open its files, with the reason', async () => {
    folder = makeEmptyFolder()
    mkdirSync(join(folder.path, 'clickhouse', 'status'), { recursive: true })
    expect(await refusal(folder.path, { clickhouse: true, postgres: false })).toMatch(
      /^DATA_DIR=.*: ClickHouse did not start: .*status.*$/,
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
