// @module-tag postgres

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { beginDeletion } from '../../src/accounts/deletion.ts'
import { deleteAccount } from '../../src/cli/accountDelete.ts'
import { deleteAccountRows } from '../../src/writer/deleteAccountRows.ts'
import { Writer } from '../../src/writer/lease/writer.ts'
import { openWriter } from '../../src/writer/openWriter.ts'
import { openTestApp, type TestApp } from '../kit/app.ts'
import { expectOneLine, killOnceItSays, runHere, runJson } from './runCommand.ts'

let server: TestApp
const keys = new Map<string, string>()
const running = { onMessage: () => {}, signal: new AbortController().signal }

beforeAll(async () => {
  server = await openTestApp()
  for (const id of ['acme', 'waiting', 'other']) {
    keys.set(id, await server.account(id))
    await json('demo', '--account', id, '--clicks', '300', '--days', '3')
  }
})
afterAll(() => server?.close())

const tributary = (...words: string[]) => runHere(words, server.stores.environment)
const deletionOf = (id: string) => ['account', 'delete', '--account', id, '--confirm', id]

const json = (...words: string[]) => runJson(words, server.stores.environment)

/** Names of the tables with rows of accounts. */
async function clickhouseTables(): Promise<string[]> {
  const { client, database } = server.stores.clickhouse
  const result = await client.query({
    query: `
      SELECT name FROM system.tables
      WHERE database = {database:String} AND name != 'schema_migrations' AND (engine LIKE '%MergeTree' OR engine = 'Distributed')`,
    query_params: { database },
    format: 'JSONEachRow',
  })
  return (await result.json<{ name: string }>()).map(({ name }) => name)
}

/** Number and hash of the rows of an account, by table of both databases. */
async function fingerprintsOf(account: string): Promise<Record<string, string>> {
  const fingerprints: Record<string, string> = {}
  const { client } = server.stores.clickhouse
  for (const name of await clickhouseTables()) {
    const query = `SELECT toString((count(), sum(cityHash64(toString(tuple(*)))))) AS rows FROM ${name} FINAL WHERE account_id = {account:String}`
    const result = await client.query({ query, query_params: { account }, format: 'JSONEachRow' })
    const [row] = await result.json<{ rows: string }>()
    fingerprints[name] = row?.rows ?? ''
  }
  const { postgres } = server.stores
  const tables = await postgres<{ name: string }[]>`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'account_id' AND table_name NOT IN ('audit_log', 'account_deletions')`
  for (const { name } of tables) {
    const [row] = await postgres<{ rows: string }[]>`
      SELECT count(*) || ' ' || coalesce(md5(string_agg(stored::text, ',' ORDER BY stored::text)), '') AS rows
      FROM ${postgres(name)} AS stored
      WHERE account_id = ${account}`
    fingerprints[name] = row?.rows ?? ''
  }
  return fingerprints
}

/** The tables that contain rows of an account. */
async function tablesWith(account: string): Promise<string[]> {
  const isEmpty = (rows: string) => rows === '(0,0)' || rows === '0 '
  return Object.entries(await fingerprintsOf(account)).flatMap(([name, rows]) => (isEmpty(rows) ? [] : [name]))
}

/** Sets the start of a deletion back, to a time at which no server accepts its keys any longer. */
const setBack = (id: string) => server.stores.postgres`
  UPDATE account_deletions SET began_at = began_at - interval '1 hour' WHERE account_id = ${id}`

/** Stores an event, as a server with a cached key does. */
const storeEvent = (account: string, id: string) =>
  server.stores.clickhouse.client.insert({
    table: 'pixel_events',
    values: [{ account_id: account, origin: 'server', id, received_at: '2026-11-21 15:00:00.000' }],
    format: 'JSONEachRow',
  })

describe('the deletion of an account', () => {
  it('deletes rows only once no server accepts its keys, also after an interruption of the wait', async () => {
    const before = await fingerprintsOf('waiting')
    const interruption = new AbortController()
    const interrupted = deleteAccount(server.stores, 'waiting', {
      onMessage: () => {},
      signal: interruption.signal,
      async wait() {
        interruption.abort(new Error('interrupted'))
        throw new Error('aborted')
      },
    })
    await expect(interrupted).rejects.toThrow('interrupted')
    const waits: number[] = []
    const messages: string[] = []
    const deletedAt = await deleteAccount(server.stores, 'waiting', {
      onMessage: (line) => messages.push(line),
      signal: running.signal,
      async wait(ms) {
        waits.push(ms)
        const { api_keys, ...rows } = await fingerprintsOf('waiting')
        expect(before).toMatchObject(rows)
        await storeEvent('waiting', 'accepted-meanwhile')
      },
    })
    expect(waits).toEqual([expect.toSatisfy((ms) => ms > 0 && ms <= 75_000)])
    expect(messages).toEqual([expect.stringMatching(/^Its keys are revoked; waiting \d+ s for events in flight\.$/)])
    expect(await tablesWith('waiting')).toEqual([])
    expect(await deleteAccount(server.stores, 'waiting', running)).toEqual(deletedAt)
  })

  it('ends its keys at once, then no writer adds rows; it is completed after a kill -9; rows of other accounts are unchanged', async () => {
    expect((await tablesWith('acme')).length).toBeGreaterThan(12)
    const others = await fingerprintsOf('other')
    await killOnceItSays('waiting', deletionOf('acme'), server.stores.environment)
    server.setNow(Date.UTC(2026, 10, 21, 15) + 5_000)
    expect((await server.get('/clicks', keys.get('acme'))).json().error).toBe('revoked_api_key')
    expect((await json('account', 'list')).accounts).toMatchObject([{ id: 'other' }])
    await expect(openWriter(server.stores, 'acme', running)).rejects.toThrow('account acme has been deleted.')
    for (const words of [
      ['demo', '--account', 'acme'],
      ['key', 'create', '--account', 'acme', '--name', 'x', '--scopes', 'all'],
      ['account', 'set-plan', '--account', 'acme', '--plan', 'free'],
    ]) {
      expectOneLine(await tributary(...words), 1, /^error: no such account: acme/)
    }
    await storeEvent('acme', 'late')
    await setBack('acme')
    const { deletedAt } = await json(...deletionOf('acme'))
    expect(await tablesWith('acme')).toEqual([])
    expect(await fingerprintsOf('other')).toEqual(others)
    expect(await json(...deletionOf('acme'))).toEqual({ account: 'acme', deletedAt })
    expect((await json('verify')).differences).toEqual([])
  })

  it('leaves the audit log, and an id that cannot be used again', async () => {
    const { entries } = await json('audit', 'list', '--account', 'acme')
    expect(entries.slice(-2)).toMatchObject([
      { action: 'account.delete', details: { name: 'acme', keysRevoked: 1 } },
      { action: 'account.delete_complete' },
    ])
    const created = await tributary('account', 'create', '--name', 'Acme', '--id', 'acme')
    expectOneLine(created, 1, 'account acme was deleted; its id cannot be used again.')
  })

  it('waits while ClickHouse restarts before its tables are read', async () => {
    await server.account('restarting')
    await beginDeletion(server.stores.postgres, 'restarting')
    let failures = 0
    const { clickhouse } = server.stores
    const failing = <Client extends object>(client: Client): Client =>
      new Proxy(client, {
        get(target, name) {
          const value = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          if (name !== 'read' || failures > 0) return value.bind(target)
          failures += 1
          return async () => {
            throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
          }
        },
      })
    const writer = await openWriter(server.stores, 'restarting', { ...running, first: 'delete' })
    const cluster = clickhouse.cluster && {
      ...clickhouse.cluster,
      nodes: clickhouse.cluster.nodes.map((node) => ({ ...node, client: failing(node.client) })),
    }
    const stores = { ...server.stores, clickhouse: { ...clickhouse, cluster, client: failing(clickhouse.client) } }
    await deleteAccountRows(new Writer({ ...writer, stores }))
    await writer.close()
    expect(failures).toBe(1)
  })

  it('is refused without a matching --confirm, and for an unknown account', async () => {
    const wrong = await tributary('account', 'delete', '--account', 'other', '--confirm', 'othe')
    expectOneLine(wrong, 2, '--confirm othe does not equal --account other.')
    expectOneLine(await tributary(...deletionOf('missing')), 1, /no such account: missing in /)
    expect((await tablesWith('other')).length).toBeGreaterThan(12)
  })
})
