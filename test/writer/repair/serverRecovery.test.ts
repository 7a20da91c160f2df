// @module-tag all
// @module-tag postgres

import { rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openPostgres } from '../../../src/stores/postgres/connection.ts'
import { acquireLease } from '../../../src/stores/postgres/lease.ts'
import { claimAccounts } from '../../../src/writer/fence/claims.ts'
import { accountsWithUnfinishedWork } from '../../../src/writer/journal/accountTasks.ts'
import { openWriteSession } from '../../../src/writer/openWriter.ts'
import { findDifferences } from '../../../src/writer/repair/differences.ts'
import { recoverAccounts, startRecovery } from '../../../src/writer/serverRecovery.ts'
import { importContent, makeAccount, rowsOf } from '../../import/runImport.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { interceptClickHouse } from '../../kit/interceptedClickHouse.ts'
import { changeTables } from '../../kit/rows.ts'
import type { TestStores } from '../../kit/stores.ts'
import { ImportKilled, killedStores } from '../killedImport.ts'
import { running, withWriter } from '../withWriter.ts'

const stores = useTestStores()
let account: string
let lines: string[]
const log = { info: (line: string) => void lines.push(line), warn: (line: string) => void lines.push(line) }
const { signal } = new AbortController()
const deadline = { timeout: 30_000 }

beforeEach(async () => {
  account = await makeAccount(stores)
  lines = []
})

const click = { id: 'k1', clickedAt: '2026-02-11T10:11:00Z', campaignId: 'c1', cost: 0.25 }
const conversion = { id: 'v1', convertedAt: '2026-02-12T00:00:00Z', status: 'approved', clickId: 'k1' }

/** The same stores for an import that is killed when it looks for late clicks after its batch was stored and confirmed. */
function killedBeforeAttribution(): TestStores {
  let hasSentRows = false
  return interceptClickHouse(stores, async ({ method, text, label }) => {
    if (method === 'exec' && text.startsWith('INSERT')) hasSentRows = true
    // After an insert with an unknown outcome the import looks its ids up again, while its batch is not confirmed.
    const isLookup = label === 'import.late_clicks' && hasSentRows
    if (isLookup && (await unconfirmedBatches()).length === 0) throw new ImportKilled()
  })
}

/** An import of the click that is killed after its batch was confirmed and before conversions are attributed to it. */
async function importKilledBeforeAttribution(): Promise<void> {
  await importContent(stores, account, 'conversions', [conversion])
  await expect(importContent(killedBeforeAttribution(), account, 'clicks', [click])).rejects.toThrow(ImportKilled)
  expect(await unconfirmedBatches()).toEqual([])
}

/** An import of the click that is killed after its row was stored and before its sums were. */
async function importKilledBeforeSums(): Promise<void> {
  const killed = killedStores(stores, account, ['sums_by_day', 'click_index'])
  await expect(importContent(killed, account, 'clicks', [click])).rejects.toThrow(ImportKilled)
}

const unconfirmedBatches = () => stores.postgres`SELECT token FROM import_batches WHERE account_id = ${account}`
const openTasks = () => stores.postgres`SELECT task FROM account_tasks WHERE account_id = ${account}`
const attributedClicks = () =>
  rowsOf(stores, `SELECT click_id FROM converted_clicks FINAL WHERE account_id = '${account}'`)

const expectConsistent = async () => expect(await withWriter(stores, account, findDifferences)).toEqual([])

describe('a running server', () => {
  it('keeps running while a store is unavailable, and completes imports once it is available', {
    tags: 'long',
  }, async ({ skip }) => {
    const { path: socket } = stores.postgres.options as unknown as { path?: string }
    if (!socket) return skip('a server is not reached by a path')
    await importKilledBeforeSums()
    const path = join(tmpdir(), `tributary-recovery-${account}.sock`)
    const late = openPostgres({ path })
    const stop = startRecovery({ ...stores, postgres: late }, log, 10)
    await expect.poll(() => lines.length, deadline).toBeGreaterThan(1)
    expect(new Set(lines)).toEqual(
      new Set([
        'Checking for interrupted work failed; retrying at the next check. Postgres is not reachable at the moment; try again.',
      ]),
    )
    await symlink(socket, path)
    await expect.poll(unconfirmedBatches, deadline).toEqual([])
    await stop()
    await late.end()
    await rm(path)
    await expectConsistent()
  })

  it('repairs the days of several accounts together, attributes their conversions, and names only their number', async () => {
    const accounts: string[] = []
    for (let n = 0; n < 3; n++) {
      account = await makeAccount(stores)
      accounts.push(account)
      // The second account lacks the clicks of its month; the third one only has a conversion to attribute.
      if (n === 2) await importKilledBeforeAttribution()
      else await importKilledBeforeSums()
    }
    const held = accounts[1] ?? ''
    await changeTables(stores, `DELETE FROM clicks WHERE account_id = '${held}'`)
    await stores.postgres`INSERT INTO stored_rows VALUES (${held}, 'clicks', '2026-02-01', 1)`
    const written: string[] = []
    const watched = interceptClickHouse(stores, ({ method, text }) => {
      if (method === 'exec') written.push(/INTO (\w+)/.exec(text)?.[1] ?? '')
    })
    const stop = startRecovery(watched, log, 10)
    await expect
      .poll(() => lines, deadline)
      .toEqual(['Interrupted imports of 3 accounts completed; batches repaired: 2, conversions attributed: 1.'])
    await stop()
    // The first account, and the second one without its clicks.
    expect(written.filter((table) => table === 'sums_by_day')).toHaveLength(2)
    expect(await attributedClicks()).toEqual([{ click_id: 'k1' }])
    await recoverAccounts(stores, log, signal)
    expect(lines).toHaveLength(1)
    for (account of accounts) {
      expect(await unconfirmedBatches()).toEqual([])
      expect(await openTasks()).toEqual([])
      if (account !== held) await expectConsistent()
    }
    expect(await rowsOf(stores, `SELECT 1 FROM click_index WHERE account_id = '${held}'`)).toEqual([])
  })

  it('leaves an account to the writer that holds it, without waiting, and repairs it later', async () => {
    await importKilledBeforeSums()
    const live = await openWriteSession(stores, running)
    expect(await claimAccounts(live, [account])).toMatchObject([{ accountId: account }])
    expect(await accountsWithUnfinishedWork(stores.postgres)).toEqual([])
    await recoverAccounts(stores, log, signal)
    expect(await unconfirmedBatches()).toHaveLength(1)
    await live.close()
    await recoverAccounts(stores, log, signal)
    expect(await unconfirmedBatches()).toEqual([])
    expect(lines).toEqual([
      `Account ${account}: completed an interrupted import; batches repaired: 1, conversions attributed: 0.`,
    ])
    await expectConsistent()
  })

  it('leaves the work to the instance that holds the recovery lease', { tags: 'long' }, async () => {
    await importKilledBeforeSums()
    const other = await acquireLease(stores.postgres, 'recovery')
    await recoverAccounts(stores, log, signal)
    expect(await unconfirmedBatches()).toHaveLength(1)
    await other.release()
    await recoverAccounts(stores, log, signal)
    expect(await unconfirmedBatches()).toEqual([])
  })

  it('reads nothing from ClickHouse while no import was interrupted', async () => {
    await importContent(stores, account, 'conversions', [conversion])
    await importContent(stores, account, 'clicks', [click])
    const queries: string[] = []
    const clickhouse = { ...stores.clickhouse, onQuery: (label: string) => void queries.push(label) }
    await recoverAccounts({ ...stores, clickhouse }, log, signal)
    expect([queries, lines]).toEqual([[], []])
  })

  it('stops at once between two checks', async () => {
    const stop = startRecovery(stores, log, 2 ** 31 - 1)
    await stop()
    expect(lines).toEqual([])
  })
})
