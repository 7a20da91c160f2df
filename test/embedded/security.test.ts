import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ClickHouseAddress, PostgresAddress } from '../../src/stores/embedded/protocol.ts'
import { ask, type Folder, makeFolder } from './folder.ts'

let folder: Folder
let clickhouse: ClickHouseAddress
let postgres: PostgresAddress
beforeAll(async () => {
  folder = makeFolder()
  const engines = await folder.attach()
  clickhouse = engines.clickhouse as ClickHouseAddress
  postgres = engines.postgres as PostgresAddress
  await ask(clickhouse, 'CREATE TABLE default.secret (text String) ENGINE = MergeTree ORDER BY text')
})
afterAll(() => folder.leave())

const asDefault = (query: string) => ask(clickhouse, query, { name: 'default', password: '' })

describe('another user of the machine', () => {
  it.each([
    'SELECT * FROM default.secret',
    'SELECT * FROM system.tables',
    'SYSTEM STOP LISTEN HTTP',
    `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
    'SELECT 1',
  ])('gets nothing from ClickHouse as the passwordless user: %s', async (query) => {
    await expect(asDefault(query)).rejects.toThrow(/USER_SESSION_LIMIT_EXCEEDED/)
  })

  it('gets nothing from ClickHouse with a wrong password', async () => {
    const guess = ask(clickhouse, 'SELECT 1', { name: clickhouse.username, password: 'guess' })
    await expect(guess).rejects.toThrow(/AUTHENTICATION_FAILED/)
  })

  it('cannot reach the socket of Postgres, the password of ClickHouse, or the files', () => {
    for (const path of ['run', 'run/clickhouse.json', 'run/clickhouse-users.xml', 'clickhouse', 'postgres']) {
      expect([path, statSync(join(folder.path, path)).mode & 0o077]).toEqual([path, 0])
    }
    expect(dirname(postgres.path)).toBe(join(folder.path, 'run'))
  })
})

describe('our own user of ClickHouse', () => {
  it('may define, write, read, stop queries and flush', async () => {
    await ask(clickhouse, 'CREATE DATABASE ours')
    await ask(clickhouse, 'CREATE TABLE ours.base (id UInt32) ENGINE = ReplacingMergeTree ORDER BY id')
    await ask(clickhouse, 'CREATE TABLE ours.sums (id UInt32, rows UInt64) ENGINE = SummingMergeTree ORDER BY id')
    await ask(
      clickhouse,
      'CREATE MATERIALIZED VIEW ours.sum_rows TO ours.sums AS SELECT id, count() AS rows FROM ours.base GROUP BY id',
    )
    await ask(clickhouse, 'INSERT INTO ours.base SELECT number FROM numbers(10)')
    await ask(clickhouse, 'ALTER TABLE ours.base DELETE WHERE id = 1 SETTINGS mutations_sync = 1')
    await ask(clickhouse, 'OPTIMIZE TABLE ours.base FINAL')
    expect(await ask(clickhouse, 'SELECT count(), (SELECT sum(rows) FROM ours.sums) FROM ours.base FINAL')).toBe(
      '9\t10',
    )
    await ask(clickhouse, `KILL QUERY WHERE query_id = 'none'`)
    await ask(clickhouse, 'SYSTEM FLUSH LOGS')
    expect(await ask(clickhouse, `SELECT count() FROM system.parts WHERE database = 'ours' AND active`)).not.toBe('0')
    await ask(clickhouse, 'DROP DATABASE ours')
  })

  it.each([
    `file('/etc/passwd', 'LineAsString')`,
    `url('http://127.0.0.1:1/', 'LineAsString')`,
    `remote('127.0.0.1', system.one)`,
  ])('reaches nothing outside of the engine: %s', async (source) => {
    await expect(ask(clickhouse, `SELECT * FROM ${source}`)).rejects.toThrow(/ACCESS_DENIED/)
  })
})
