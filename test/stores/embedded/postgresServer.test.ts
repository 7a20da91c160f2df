// @module-tag all

import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import type postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { maintenance } from '../../../src/stores/embedded/postgres/maintenance.ts'
import { servePostgres } from '../../../src/stores/embedded/postgres/server.ts'
import { until } from '../../kit/until.ts'
import { pool } from './folder.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-embedded-'))
const path = join(folder, 'postgres.sock')
const frequent = maintenance.map(({ statement }) => ({ statement, everyMs: 50 }))
let engine: PGlite
let observer: postgres.Sql
let server: Awaited<ReturnType<typeof servePostgres>>
beforeAll(async () => {
  engine = await PGlite.create()
  await engine.exec('CREATE TABLE counted (id int PRIMARY KEY, n int NOT NULL)')
  server = await servePostgres(engine, path, 2_500, frequent)
  observer = pool({ path })
})
afterAll(async () => {
  await observer.end()
  await server.close()
  await engine.close()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  await observer`TRUNCATE counted`
  await observer`INSERT INTO counted VALUES (1, 0)`
})

describe('one Postgres session for many clients', () => {
  it('serves queries and transactions of three clients at once without an error', async () => {
    const clients = [pool({ path }, 2), pool({ path }, 2), pool({ path }, 2)]
    await Promise.all(
      clients.flatMap((sql, client) => [
        ...Array.from({ length: 100 }, async (_, i) => {
          expect(await sql`SELECT ${client}::int AS client, ${i}::int AS i`).toEqual([{ client, i }])
        }),
        ...Array.from({ length: 20 }, () =>
          sql.begin(async (transaction) => {
            const [row] = await transaction`SELECT n FROM counted WHERE id = 1`
            await transaction`UPDATE counted SET n = ${row?.n + 1} WHERE id = 1`
          }),
        ),
      ]),
    )
    expect(await observer`SELECT n FROM counted`).toEqual([{ n: 60 }])
    await Promise.all(clients.map((sql) => sql.end()))
  })

  it('analyzes a table soon after it was filled, and again after it has grown', async () => {
    await observer`CREATE TABLE filled (account text, n int)`
    const fill = (account: string) => observer`INSERT INTO filled SELECT ${account}, n FROM generate_series(1, 1000) n`
    const accounts = async () => {
      const [row] = await observer`
        SELECT most_common_vals::text::text[] AS accounts FROM pg_stats WHERE tablename = 'filled' AND attname = 'account'`
      return row?.accounts
    }
    await fill('a')
    await expect.poll(accounts, { timeout: 10_000 }).toEqual(['a'])
    await fill('b')
    await expect.poll(accounts, { timeout: 10_000 }).toEqual(['a', 'b'])
  })

  it('returns the error of a wrong statement and continues', async () => {
    const sql = pool({ path })
    await expect(sql`SELEC 1`).rejects.toMatchObject({ code: '42601' })
    await expect(sql`INSERT INTO counted VALUES (${1}, ${1})`).rejects.toMatchObject({ code: '23505' })
    await expect(sql.begin((transaction) => transaction`SELECT 1 / 0`)).rejects.toMatchObject({ code: '22012' })
    expect(await sql`SELECT 1 AS one`).toEqual([{ one: 1 }])
    await sql.end()
  })

  it('forwards values of many megabytes', async () => {
    const sql = pool({ path })
    const text = 'x'.repeat(8 * 1024 * 1024)
    const [row] = await sql`SELECT ${text}::text AS text`
    expect(row?.text === text).toBe(true)
    await sql.end()
  })

  it('drops the prepared statements of a client that disconnected', async () => {
    const sql = pool({ path })
    await sql`SELECT ${1}::int AS leaver`
    expect(await isPrepared('SELECT $1::int AS leaver')).toBe(true)
    await sql.end()
    await until(async () => !(await isPrepared('SELECT $1::int AS leaver')))
  })

  it('disconnects a client that is idle in a transaction, and rolls it back, while others send queries', async () => {
    const silent = pool({ path })
    const open = silent.begin(async (transaction) => {
      await transaction`UPDATE counted SET n = 99`
      await new Promise(() => {})
    })
    const cutOff = expect(open).rejects.toMatchObject({ code: expect.stringMatching(/25P03|CONNECTION_CLOSED/) })
    await until(() => engine.isInTransaction())
    const other = connect(path)
    other.write(startup)
    await until(() => {
      other.write(frame('Q', 'SELECT 1\0'))
      return !engine.isInTransaction()
    })
    expect(await observer`SELECT n FROM counted`).toEqual([{ n: 0 }])
    other.destroy()
    await cutOff
    await silent.end({ timeout: 0 })
  })

  it('continues when a client disconnects between Parse and Sync', async () => {
    const socket = connect(path)
    socket.write(startup)
    socket.write(Buffer.concat([frame('P', `half\0SELECT 2 AS half\0\0\0`), frame('H', '')]))
    const confirmed: Buffer[] = []
    socket.on('data', (chunk) => confirmed.push(chunk))
    // ParseComplete
    await until(() => Buffer.concat(confirmed).subarray(-5).equals(frame('1', '')))
    const waiting = observer`SELECT 1 AS one`
    socket.destroy()
    expect(await waiting).toEqual([{ one: 1 }])
    await until(async () => !(await isPrepared('SELECT 2 AS half')))
  })

  it('returns an error for a malformed Bind', async () => {
    const socket = connect(path)
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.write(Buffer.concat([startup, frame('B', 'abc'), frame('S', '')]))
    await until(() => Buffer.concat(chunks).includes('ERROR'))
    socket.destroy()
  })
})

const startup = (() => {
  const parameters = 'user\0x\0database\0y\0\0'
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + parameters.length)
  head.writeUInt32BE(196_608, 4)
  return Buffer.concat([head, Buffer.from(parameters)])
})()

function frame(type: string, body: string): Buffer {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, Buffer.from(body)])
}

async function isPrepared(statement: string): Promise<boolean> {
  const rows = await observer.unsafe('SELECT statement FROM pg_prepared_statements')
  return rows.some((row) => row.statement === statement)
}
