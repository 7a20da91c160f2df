import { readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { setRetention } from '../../src/accounts/retention.ts'
import { deleteAccount } from '../../src/cli/accountDelete.ts'
import { removeOldMonths, removeOldMonthsOfAll } from '../../src/cli/retentionJob.ts'
import { packageRoot } from '../../src/package.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { recoverAccounts } from '../../src/writer/serverRecovery.ts'
import { runHere } from '../cli/runCommand.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { nextMigrations } from '../kit/program.ts'
import { apply } from '../properties/lives.ts'
import { running, withWriter } from '../writer/withWriter.ts'
import { openTestFeed } from './openFeed.ts'

// A migration changes the tables.
const stores = useTestStores({ isDirty: true })
const folder = useFolder()

const nowMs = Date.UTC(2025, 10, 21)
const pauseMs = 1_000

/**
 * Opens a feed whose sender never pauses for long: each account gets a click and a pixel event in each request, and its conversions
 * change. It ends with the test.
 */
async function openBusyFeed(...accounts: string[]) {
  const feed = openTestFeed(stores)
  const stored = new Map(accounts.map((account) => [account, 0]))
  const rejected = new Set<string>()
  let isEnded = false
  let requests = 0
  const rowsAt = (accountId: string, number: number) => {
    const time = (month: number) => new Date(Date.UTC(2025, month, 1 + (number % 20), 10)).toISOString()
    const of = { accountId, visitorId: `v${number % 3}`, campaignId: 'k1' }
    return [
      { ...of, resource: 'clicks', id: `c${number}`, clickedAt: time(8 + 2 * (number % 2)), country: 'DE', cost: 0.5 },
      {
        ...of,
        resource: 'pixel-events',
        id: `e${number}`,
        eventName: 'view',
        occurredAt: time(10),
        receivedAt: time(10),
      },
      {
        accountId,
        resource: 'conversions',
        id: `s${number % 5}`,
        clickId: `c${number % 5}`,
        convertedAt: time(10),
        status: number % 2 ? 'approved' : 'pending',
        updatedAt: new Date(nowMs + number * 1_000).toISOString(),
      },
    ]
  }
  const send = async () => {
    for (; !isEnded; requests += 1) {
      const rows = accounts.flatMap((account) => rowsAt(account, requests))
      for (;;) {
        const { status, results } = await feed.send(rows)
        if (status === 503 && !isEnded) continue
        for (const [index, { result }] of results.entries()) {
          const account = rows[index]?.accountId ?? ''
          if (result === 'rejected') rejected.add(account)
          else if (rows[index]?.resource === 'clicks') stored.set(account, (stored.get(account) ?? 0) + 1)
        }
        break
      }
      await sleep(pauseMs)
    }
  }
  const sending = send()
  sending.catch(() => {})
  let ended: Promise<void> | undefined
  const end = () => {
    isEnded = true
    ended ??= sending.finally(() => feed.close())
    return ended
  }
  onTestFinished(() => end().catch(() => {}))
  const busy = {
    stored,
    rejected,
    sending,
    end,
    /** Resolves when rows of the account that were sent from now on are stored. */
    async stores(account: string): Promise<void> {
      const goal = (stored.get(account) ?? 0) + 2
      await Promise.race([expect.poll(() => stored.get(account)).toBeGreaterThanOrEqual(goal), sending])
    },
  }
  for (const account of accounts) await busy.stores(account)
  return busy
}

async function expectWhole(account: string, clicks: number): Promise<void> {
  const query = `SELECT count() AS clicks, uniqExact(id) AS ids FROM clicks WHERE account_id = '${account}'`
  const [row] = await rowsOf<{ clicks: number; ids: number }>(stores, query)
  expect([account, row?.clicks, row?.ids]).toEqual([account, clicks, clicks])
  expect([account, await withWriter(stores, account, findDifferences)]).toEqual([account, []])
}

async function command(...words: string[]) {
  const ended = await runHere(words, stores.environment)
  expect([words, ended.code]).toEqual([words, 0])
  return ended
}

describe('beside a busy feed', () => {
  it('an import, an erasure, a verification, a removal of months, an export and a deletion each get the account, and the feed goes on', {
    tags: 'long',
  }, async () => {
    const [busy, other, deleted] = [await makeAccount(stores), await makeAccount(stores), await makeAccount(stores)]
    const feed = await openBusyFeed(busy, other, deleted)

    const file = folder('rows.ndjson')
    const imported = Array.from({ length: 50 }, (_, n) => ({ id: `f${n}`, clickedAt: '2025-10-20T00:00:00Z' }))
    await writeFile(file, imported.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const { stdout } = await command('import', 'clicks', file, '--account', busy, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ inserted: 50, duplicates: 0 })
    await feed.stores(busy)

    expect(JSON.parse((await command('verify', '--account', busy, '--json')).stdout).differences).toEqual([])
    await feed.stores(busy)

    await apply({ stores }, busy, { kind: 'erase', visitor: 1 })
    await feed.stores(busy)
    const query = `SELECT DISTINCT visitor_id FROM clicks
      WHERE account_id = '${busy}' AND startsWith(id, 'c') ORDER BY visitor_id`
    const visitors = await rowsOf<{ visitor_id: string }>(stores, query)
    expect(visitors.map(({ visitor_id }) => visitor_id)).toEqual(['', 'v0', 'v2'])

    const before = feed.stored.get(busy) ?? 0
    await command('account', 'export', '--account', busy, '--output', folder('exported'))
    const { files } = JSON.parse(readFileSync(folder('exported', 'account.json'), 'utf8'))
    expect(files.clicks.rows).toBeGreaterThanOrEqual(before + imported.length)
    await feed.stores(busy)

    await setRetention(stores.postgres, other, { clickMonths: 1 })
    await withWriter(stores, other, (writer) => removeOldMonths(writer, Date.UTC(2026, 0, 20), 0))
    await expect.poll(() => feed.rejected).toContain(other)
    await feed.stores(busy)

    await deleteAccount(stores, deleted, { ...running, wait: async () => {} })
    await expect.poll(() => feed.rejected).toContain(deleted)

    await feed.stores(busy)
    await feed.end()
    await expectWhole(busy, (feed.stored.get(busy) ?? 0) + imported.length)
    const statement = `SELECT count() AS rows FROM clicks WHERE account_id = '${other}' AND clicked_at < '2025-10-01'`
    const [old] = await rowsOf<{ rows: number }>(stores, statement)
    expect(old?.rows).toBe(0)
    expect(await withWriter(stores, other, findDifferences)).toEqual([])
    for (const table of ['clicks', 'conversions', 'pixel_events', 'sums_by_day']) {
      const left = `SELECT count() AS rows FROM ${table} WHERE account_id = '${deleted}'`
      expect([table, await rowsOf(stores, left)]).toEqual([table, [{ rows: 0 }]])
    }
  })

  it('jobs of a server leave its accounts alone if nothing is due, and get an account whose months are due', async () => {
    const account = await makeAccount(stores)
    const feed = await openBusyFeed(account)
    const log: string[] = []
    const print = (line: string) => void log.push(line)
    const claim = () => stores.postgres`SELECT process, fence FROM leases WHERE name = ${`writer:${account}`}`
    const before = await claim()
    // The stored clicks are a task until the feed releases the account.
    await recoverAccounts(stores, { info: print, warn: print }, running.signal)
    expect([log, await claim()]).toEqual([[], before])
    await setRetention(stores.postgres, account, { clickMonths: 1 })
    await removeOldMonthsOfAll(stores, { info: print, warn: print }, Date.UTC(2026, 0, 20), running.signal, 0)
    expect(log).toEqual([expect.stringMatching(`^Account ${account}: .*removed`)])
    await expect.poll(() => feed.rejected).toContain(account)
    await feed.end()
    expect(await withWriter(stores, account, findDifferences)).toEqual([])
  })

  it('a migration waits for its flush only; the feed pauses until the end, and ends if it must not write any longer', async () => {
    const account = await makeAccount(stores)
    const feed = await openBusyFeed(account)
    const root = folder('next')
    for (const name of ['clickhouse', 'postgres'])
      await cp(join(packageRoot, name), join(root, name), { recursive: true })
    await cp(nextMigrations, root, { recursive: true })
    expect(await migrate(stores, root)).not.toEqual([])
    await feed.stores(account)
    const header = '-- readable from: 0.1.0\n-- writable from: 99.0.0\n'
    // The files of a folder are read once.
    await cp(root, folder('last'), { recursive: true })
    await writeFile(folder('last', 'postgres/0005_other_writers.sql'), `${header}SELECT 1;\n`)
    expect(await migrate(stores, folder('last'))).toEqual(['postgres/0005_other_writers.sql'])
    await expect(feed.sending).rejects.toThrow(/0005_other_writers\.sql .*may write them/)
  })
})
