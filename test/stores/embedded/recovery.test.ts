// @module-tag long

import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EmbeddedEngines } from '../../../src/stores/embedded/connectEmbedded.ts'
import { holds, until } from '../../kit/until.ts'
import { execute, type Folder, makeFolder, pool } from './folder.ts'

let folder: Folder
let engines: EmbeddedEngines
let sql: postgres.Sql
// The tests kill the engines of one folder, because starting others takes seconds.
beforeAll(async () => {
  folder = await makeFolder()
  engines = await folder.attach()
  sql = pool(engines.postgres)
  await execute(clickhouse(), 'CREATE DATABASE tributary')
  await execute(clickhouse(), 'CREATE TABLE tributary.confirmed (id UInt32) ENGINE = ReplacingMergeTree ORDER BY id')
  await sql`CREATE TABLE confirmed (id int)`
})
beforeEach(async () => {
  await until(clickhouseResponds)
  await until(postgresResponds)
  await execute(clickhouse(), 'ALTER TABLE tributary.confirmed DROP PARTITION ALL')
  await sql`TRUNCATE confirmed`
  folder.log.length = 0
})
afterAll(async () => {
  await sql?.end({ timeout: 1 })
  await folder?.leave()
})

/** The present address of ClickHouse: each start has another one. */
const clickhouse = () => {
  if (!engines.clickhouse) throw new Error('ClickHouse was not requested')
  return engines.clickhouse
}
const clickhouseResponds = () => holds(() => execute(clickhouse(), 'SELECT 1'))
const postgresResponds = () => holds(() => sql`SELECT 1`)
const kill = (program: string) => process.kill(folder.process(program), 'SIGKILL')
const hasLogged = (text: RegExp) => folder.log.some(({ message }) => text.test(message))

describe('after kill -9', () => {
  it('of the supervisor and both engines at once no acknowledged row is lost, and the client attaches again', async () => {
    for (let id = 1; id <= 20; id++) {
      await execute(clickhouse(), `INSERT INTO tributary.confirmed VALUES (${id})`)
      await sql`INSERT INTO confirmed VALUES (${id})`
    }
    for (const { id } of folder.processes()) process.kill(id, 'SIGKILL')
    await until(() => hasLogged(/^Attached to the embedded engines again/))
    expect(await execute(clickhouse(), 'SELECT count() FROM tributary.confirmed')).toBe('20')
    await until(postgresResponds)
    expect(await sql`SELECT count(*)::int AS rows FROM confirmed`).toEqual([{ rows: 20 }])
  })

  it('of the supervisor alone its engines end, and the client starts others', async () => {
    const before = folder.processes().map(({ id }) => id)
    kill('supervisor')
    await until(() => hasLogged(/^Attached to the embedded engines again/))
    expect(folder.processes().filter(({ id }) => before.includes(id))).toEqual([])
    expect(await clickhouseResponds()).toBe(true)
    await until(postgresResponds)
  })

  it('of a client in the middle of a transaction the other clients continue, and the transaction is rolled back', async () => {
    const client = await folder.startClient()
    await client.openTransaction('INSERT INTO confirmed VALUES (99)')
    const waiting = sql`SELECT count(*)::int AS rows FROM confirmed`
    await client.kill('SIGKILL')
    expect(await waiting).toEqual([{ rows: 0 }])
  })
})

it('a Postgres that breaks is restarted instead of hanging, with all acknowledged rows', async () => {
  await sql`INSERT INTO confirmed VALUES (1)`
  const nested = `${'['.repeat(500_000)}${']'.repeat(500_000)}`
  await expect(sql`SELECT ${nested}::text::json`).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
  await until(() => hasLogged(/^Postgres is ready again/))
  expect(await sql`SELECT id FROM confirmed`).toEqual([{ id: 1 }])
  expect(hasLogged(/^Postgres ended unexpectedly \(exit code 1: the session broke: RangeError/)).toBe(true)
})

it('after kill -9 of ClickHouse it restarts although the log of the engines is on a full disk', async () => {
  rmSync(join(folder.path, 'embedded.log'))
  symlinkSync('/dev/full', join(folder.path, 'embedded.log'))
  kill('supervisor')
  await until(() => hasLogged(/^Attached to the embedded engines again/))
  await until(clickhouseResponds)
  const before = folder.process('clickhouse/engine')
  kill('clickhouse/engine')
  await until(() => folder.processes().every(({ id }) => id !== before))
  await until(clickhouseResponds)
  expect(folder.process('supervisor')).toBeGreaterThan(0)
  await until(postgresResponds)
})

it('at last, after kill -9 of every client the engines end', async () => {
  const client = await folder.startClient()
  await engines.close()
  await client.kill('SIGKILL')
  await until(() => folder.processes().length === 0)
})
