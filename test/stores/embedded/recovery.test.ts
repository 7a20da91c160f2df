import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EmbeddedEngines } from '../../../src/stores/embedded/attach.ts'
import { ask, type Folder, holds, makeFolder, pool, until } from './folder.ts'

let folder: Folder
let engines: EmbeddedEngines
let sql: postgres.Sql
beforeEach(async () => {
  folder = makeFolder()
  engines = await folder.attach()
  sql = pool(engines.postgres)
  await ask(clickhouse(), 'CREATE DATABASE tributary')
  await ask(clickhouse(), 'CREATE TABLE tributary.answered (id UInt32) ENGINE = ReplacingMergeTree ORDER BY id')
  await sql`CREATE TABLE answered (id int)`
})
afterEach(async () => {
  await sql.end({ timeout: 1 })
  await folder.leave()
})

/** Where ClickHouse answers now: each start has another address. */
const clickhouse = () => {
  if (!engines.clickhouse) throw new Error('ClickHouse was not wanted')
  return engines.clickhouse
}
const clickhouseAnswers = () => holds(() => ask(clickhouse(), 'SELECT 1'))
const postgresAnswers = () => holds(() => sql`SELECT 1`)
const kill = (program: string) => process.kill(folder.process(program), 'SIGKILL')
const said = (text: RegExp) => folder.log.some(({ message }) => text.test(message))

describe('after kill -9', () => {
  it('of ClickHouse it restarts with every acknowledged row, clients receive the new address, and a log line reports it', async () => {
    for (let id = 1; id <= 20; id++) await ask(clickhouse(), `INSERT INTO tributary.answered VALUES (${id})`)
    const before = folder.process('clickhouse/engine')
    kill('clickhouse/engine')
    await until(() => folder.processes().every(({ id }) => id !== before))
    await until(clickhouseAnswers)
    expect(await ask(clickhouse(), 'SELECT count() FROM tributary.answered')).toBe('20')
    await until(() => said(/^ClickHouse is ready again/))
    expect(said(/^ClickHouse ended unexpectedly \(signal SIGKILL\); restarting at once\.$/)).toBe(true)
  })

  it('of ClickHouse it restarts although the log of the engines is on a full disk', async () => {
    rmSync(join(folder.path, 'embedded.log'))
    symlinkSync('/dev/full', join(folder.path, 'embedded.log'))
    kill('supervisor')
    await until(() => said(/^Attached to the embedded engines again/))
    await until(clickhouseAnswers)
    const before = folder.process('clickhouse/engine')
    kill('clickhouse/engine')
    await until(() => folder.processes().every(({ id }) => id !== before))
    await until(clickhouseAnswers)
    expect(folder.process('supervisor')).toBeGreaterThan(0)
    await until(postgresAnswers)
  })

  it('of Postgres it restarts at the same address with every acknowledged row, and a log line reports it', async () => {
    for (let id = 1; id <= 20; id++) await sql`INSERT INTO answered VALUES (${id})`
    kill('postgres/engine')
    await until(() => said(/^Postgres is ready again/))
    expect(await sql`SELECT count(*)::int AS rows FROM answered`).toEqual([{ rows: 20 }])
    expect(said(/^Postgres ended unexpectedly \(signal SIGKILL\); restarting at once\.$/)).toBe(true)
  })

  it('of the supervisor and both engines at once no acknowledged row is lost, and the client attaches again', async () => {
    for (let id = 1; id <= 20; id++) {
      await ask(clickhouse(), `INSERT INTO tributary.answered VALUES (${id})`)
      await sql`INSERT INTO answered VALUES (${id})`
    }
    for (const { id } of folder.processes()) process.kill(id, 'SIGKILL')
    await until(() => said(/^Attached to the embedded engines again/))
    expect(await ask(clickhouse(), 'SELECT count() FROM tributary.answered')).toBe('20')
    await until(postgresAnswers)
    expect(await sql`SELECT count(*)::int AS rows FROM answered`).toEqual([{ rows: 20 }])
  })

  it('of the supervisor alone its engines end, and the client starts others', async () => {
    const before = folder.processes().map(({ id }) => id)
    kill('supervisor')
    await until(() => said(/^Attached to the embedded engines again/))
    expect(folder.processes().filter(({ id }) => before.includes(id))).toEqual([])
    expect(await clickhouseAnswers()).toBe(true)
    await until(postgresAnswers)
  })

  it('of a client in the middle of a transaction the other clients continue, and the transaction is rolled back', async () => {
    const client = await folder.startClient()
    await client.openTransaction('INSERT INTO answered VALUES (99)')
    const waiting = sql`SELECT count(*)::int AS rows FROM answered`
    await client.kill('SIGKILL')
    expect(await waiting).toEqual([{ rows: 0 }])
  })

  it('of every client the engines end', async () => {
    const client = await folder.startClient()
    await engines.close()
    await client.kill('SIGKILL')
    await until(() => folder.processes().length === 0)
  })
})

describe('Postgres', () => {
  it('flushes every commit to the disk', async () => {
    expect(await sql`SELECT current_setting('fsync') AS fsync`).toEqual([{ fsync: 'on' }])
  })
})

describe('a Postgres that breaks', () => {
  it('is restarted instead of hanging, with all acknowledged rows', async () => {
    await sql`INSERT INTO answered VALUES (1)`
    const nested = `${'['.repeat(500_000)}${']'.repeat(500_000)}`
    await expect(sql`SELECT ${nested}::text::json`).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
    await until(() => said(/^Postgres is ready again/))
    expect(await sql`SELECT id FROM answered`).toEqual([{ id: 1 }])
    expect(said(/^Postgres ended unexpectedly \(exit code 1: the session broke: RangeError/)).toBe(true)
  })
})
