// @module-tag all
// @module-tag postgres

import { beforeAll, describe, expect, it, vi } from 'vitest'
import { beginDeletion } from '../../src/accounts/deletion.ts'
import { deleteAccount } from '../../src/cli/accountDelete.ts'
import { deleteAccountRows } from '../../src/writer/deleteAccountRows.ts'
import { openWriter } from '../../src/writer/openWriter.ts'
import { postgresRowsOf } from '../faults/crashes/accountState.ts'
import { rowsOf as clickhouseRows } from '../import/runImport.ts'
import { useTestApp } from '../kit/app.ts'
import { running } from '../writer/withWriter.ts'
import { expectOneLine, runHere, runJson } from './runCommand.ts'

const server = useTestApp()
const keys = new Map<string, string>()

beforeAll(async () => {
  for (const id of ['acme', 'waiting', 'other']) {
    keys.set(id, await server.account(id))
    await json('demo', '--account', id, '--clicks', '300', '--days', '3')
  }
})

const tributary = (...words: string[]) => runHere(words, server.stores.environment)
const deletionOf = (id: string) => ['account', 'delete', '--account', id, '--confirm', id]

const json = (...words: string[]) => runJson(words, server.stores.environment)

/** Every row of an account in both databases, after the name of its table; not the audit log and the record of its deletion. */
async function rowsOf(account: string): Promise<string[]> {
  const { stores } = server
  const tables = await clickhouseRows<{ name: string }>(
    stores,
    `SELECT name FROM system.tables
     WHERE database = currentDatabase() AND name != 'schema_migrations' AND (engine LIKE '%MergeTree' OR engine = 'Distributed')`,
  )
  const ofPostgres = await postgresRowsOf(stores.postgres, account)
  const lines = ofPostgres.filter((line) => !/^(audit_log|account_deletions) /.test(line))
  for (const { name } of tables) {
    const rows = await clickhouseRows(stores, `SELECT * FROM ${name} FINAL WHERE account_id = '${account}'`)
    lines.push(...rows.map((row) => `${name} ${JSON.stringify(row)}`))
  }
  return lines.sort()
}

const countTables = (lines: string[]) => new Set(lines.map((line) => line.split(' ', 1)[0])).size

const storeEvent = (account: string, id: string) =>
  server.stores.clickhouse.client.insert({
    table: 'pixel_events',
    values: [{ account_id: account, origin: 'server', id, received_at: '2026-11-21 15:00:00.000' }],
    format: 'JSONEachRow',
  })

describe('the deletion of an account', () => {
  it('deletes rows only once no server accepts its keys, also after an interruption of the wait', async () => {
    const withoutKeys = async () => (await rowsOf('waiting')).filter((line) => !line.startsWith('api_keys '))
    const before = await withoutKeys()
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
        expect(await withoutKeys()).toEqual(before)
        await storeEvent('waiting', 'accepted-meanwhile')
      },
    })
    expect(waits).toEqual([expect.toSatisfy((ms) => ms > 0 && ms <= 75_000)])
    expect(messages).toEqual([expect.stringMatching(/^Its keys are revoked; waiting \d+ s for events in flight\.$/)])
    expect(await rowsOf('waiting')).toEqual([])
    expect(await deleteAccount(server.stores, 'waiting', running)).toEqual(deletedAt)
  })

  it('ends its keys at once, then no writer adds rows; it is completed after an interruption; rows of other accounts are unchanged', async () => {
    expect(countTables(await rowsOf('acme'))).toBeGreaterThan(12)
    const others = await rowsOf('other')
    // As after a kill of the command: `npm run faults -- "account delete"` kills it at each statement.
    await beginDeletion(server.stores.postgres, 'acme')
    server.setNow(Date.UTC(2026, 10, 21, 15) + 5_000)
    expect((await server.get('/clicks', keys.get('acme'))).json().error).toBe('revoked_api_key')
    expect((await json('account', 'list')).accounts).toMatchObject([{ id: 'other' }])
    await expect(openWriter(server.stores, 'acme', running)).rejects.toThrow('account acme has been deleted.')
    for (const words of [
      ['demo', '--account', 'acme'],
      ['key', 'create', '--account', 'acme', '--name', 'x', '--scopes', 'all'],
      ['account', 'set-plan', '--account', 'acme', '--plan', 'free'],
    ])
      expectOneLine(await tributary(...words), 1, /^error: no such account: acme/)
    await storeEvent('acme', 'late')
    // No server accepts its keys any longer.
    await server.stores.postgres`UPDATE account_deletions SET began_at = began_at - interval '1 hour'`
    const { deletedAt } = await json(...deletionOf('acme'))
    expect(await rowsOf('acme')).toEqual([])
    expect(await rowsOf('other')).toEqual(others)
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
    const writer = await openWriter(server.stores, 'restarting', { ...running, first: 'delete' })
    const { clickhouse } = server.stores
    const { client } = clickhouse.cluster?.nodes[0] ?? clickhouse
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    const read = vi.spyOn(client, 'read').mockRejectedValueOnce(refused)
    await deleteAccountRows(writer)
    await writer.close()
    expect(read.mock.calls.length).toBeGreaterThan(1)
    read.mockRestore()
  })

  it('is refused without a matching --confirm, and for an unknown account', async () => {
    const wrong = await tributary('account', 'delete', '--account', 'other', '--confirm', 'othe')
    expectOneLine(wrong, 2, '--confirm othe does not equal --account other.')
    expectOneLine(await tributary(...deletionOf('missing')), 1, /no such account: missing in /)
    expect(countTables(await rowsOf('other'))).toBeGreaterThan(12)
  })
})
