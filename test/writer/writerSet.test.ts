// @module-tag postgres

import fc from 'fast-check'
import { describe, expect, inject, it, vi } from 'vitest'
import { jsonInput } from '../../src/import/readers/mapping.ts'
import { clickReader } from '../../src/import/resources/click.ts'
import { conversionReader } from '../../src/import/resources/conversion.ts'
import { packageRoot } from '../../src/package.ts'
import { migratePostgres } from '../../src/stores/migrations/migrate.ts'
import { openPostgres } from '../../src/stores/postgres/connection.ts'
import { AwaitedClicks } from '../../src/writer/attribution/awaitedClicks.ts'
import { claimAccounts, releaseAccounts } from '../../src/writer/fence/claims.ts'
import type { WriteSession } from '../../src/writer/fence/session.ts'
import { openWriteSession } from '../../src/writer/openWriter.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { storedClicks } from '../../src/writer/store/clicks.ts'
import { type LookUps, openLookUps, RowBatch } from '../../src/writer/store/rowBatch.ts'
import { BloomFilter } from '../../src/writer/storedKeys/bloomFilter.ts'
import { ExistingKeys } from '../../src/writer/storedKeys/existingKeys.ts'
import type { Filling } from '../../src/writer/storedKeys/keyFilter.ts'
import { accountsOf, keyText } from '../../src/writer/tables/accountKeys.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { useOpened, useTestStores } from '../kit/fixtures.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { expireProcessOf } from '../kit/leases.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { randomCasesFactor } from '../kit/randomCases.ts'
import { until } from '../kit/until.ts'
import { shortWindow } from './killedImport.ts'
import { running, withWriter } from './withWriter.ts'

const stores = useTestStores()
const accounts = async (count: number) =>
  (await Promise.all(Array.from({ length: count }, () => makeAccount(stores)))).sort()
const claim = async (set: WriteSession, accountIds: readonly string[]) =>
  accountsOf(await claimAccounts(set, accountIds))
const open = (from: Parameters<typeof openWriteSession>[0] = stores) =>
  openWriteSession(from, { ...running, ...shortWindow })

describe('a set of accounts', () => {
  it('has those that no live process has claimed, until it is closed', async () => {
    const [a = '', b = '', c = ''] = await accounts(3)
    const [first, second] = [await open(), await open()]
    expect(await claim(first, [b, a])).toEqual([a, b])
    expect(await claim(first, [a])).toEqual([a])
    expect(await claim(second, [a, b, c])).toEqual([c])
    await first.close()
    expect(await claim(second, [a, b, c])).toEqual([a, b, c])
    await second.close()
    expect(await leases()).toEqual(new Set(['', 'free']))
  })

  it('gets the accounts of a process that has ended, and forgets the process', async () => {
    const [a = '', b = ''] = await accounts(2)
    const ended = await open()
    await claim(ended, [a, b])
    await expireProcessOf(stores, a)
    const [one, other] = [await open(), await open()]
    expect([await claim(one, [a]), await claim(other, [a, b])]).toEqual([[a], [b]])
    await expect(ended.change('writing late')`late AS (SELECT 1 FROM held)`).rejects.toThrow('may have taken')
    expect(await claim(ended, [a, b])).toEqual([])
    for (const set of [ended, one, other]) await set.close()
    expect(await leases()).toEqual(new Set(['', 'free']))
  })

  /** Of all processes and claims: '' is a claim that was released. */
  async function leases(): Promise<Set<string>> {
    const rows = await stores.postgres<{ name: string; process: string | null; unsettled: string[] }[]>`
      SELECT name, process, unsettled FROM leases WHERE name LIKE 'writer:%' OR name LIKE 'process:%'`
    return new Set(
      rows.flatMap(({ name, process, unsettled }) => [
        process ?? '',
        ...unsettled,
        name.startsWith('process:') ? name : 'free',
      ]),
    )
  }
})

// The embedded Postgres runs one statement at a time.
describe.skipIf(!inject('engines').databaseUrl && !hasPostgres())('on a PostgreSQL server', { tags: 'all' }, () => {
  const server = useOpened(async () => {
    if (inject('engines').databaseUrl) return { get: () => stores, close() {} }
    const own = await startPostgres()
    const postgres = openPostgres({ url: own.url('tributary') })
    await migratePostgres(postgres, packageRoot)
    return {
      // Claims are in Postgres alone.
      get: () => ({ ...stores, postgres }),
      async close() {
        await postgres.end()
        await own.close()
      },
    }
  })

  it('no account is in two sets when the claim of one began before the other one started', async () => {
    const on = server.get()
    const [a = '', b = ''] = [await makeAccount(on), await makeAccount(on)].sort()
    const ended = await open(on)
    await claim(ended, [a, b])
    await ended.lease.release(null)
    const waiting = await open(on)
    const blocker = await on.postgres.reserve()
    await blocker`BEGIN`
    await blocker`SELECT FROM leases WHERE name = ${`writer:${a}`} FOR UPDATE`
    const claiming = claim(waiting, [a, b])
    const isBlocked = () => on.postgres`
      SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INSERT INTO leases AS held%'`
    await expect.poll(async () => (await isBlocked()).length).toBe(1)
    const other = await open(on)
    expect(await claim(other, [b])).toEqual([b])
    await blocker`COMMIT`
    blocker.release()
    expect(await claiming).toEqual([a])
    for (const set of [waiting, other]) await set.close()
  })
})

const dayMs = 86_400_000
const startMs = Date.UTC(2026, 0, 30)

/** Rows of a step for each account: clicks of two months, their conversions, changes of earlier ones, and one before its click. */
function rowsOfStep(accountIds: readonly string[], step: number) {
  const at = (days: number) => new Date(startMs + days * dayMs + step * 60_000).toISOString()
  return accountIds.flatMap((accountId) => {
    const click = (id: string, days: number) => {
      const fields = { id, clickedAt: at(days), campaignId: 'c', cost: 0.25 }
      return { ...clickReader('USD')(fields, jsonInput), accountId }
    }
    const sale = (n: number, status: string, clickId: string) => {
      const times = { convertedAt: at(1), updatedAt: at(status === 'approved' ? 9 : 2) }
      const fields = { id: `s${n}`, ...times, status, clickId, revenue: 2 }
      return { ...conversionReader('USD')(fields, jsonInput), accountId }
    }
    return {
      accountId,
      clicks: [click(`k${step}`, 0), click(`l${step}`, 5), click(`late${step - 1}`, 1)],
      conversions: [
        sale(3 * step, 'pending', `k${step}`),
        sale(3 * step + 1, 'pending', `late${step}`),
        sale(3 * (step - 1), 'approved', `k${step - 1}`),
      ],
    }
  })
}

async function store(set: WriteSession, rows: ReturnType<typeof rowsOfStep>, lookUps: Partial<LookUps> = {}) {
  const awaited = new AwaitedClicks(set)
  const batch = new RowBatch(set, { ...openLookUps(set, { rows: 0 }), awaited, ...lookUps })
  for (const row of rows.flatMap(({ clicks }) => clicks)) batch.add({ table: 'clicks', row })
  for (const row of rows.flatMap(({ conversions }) => conversions)) batch.add({ table: 'conversions', row })
  return (await batch.store(0)).outcomes
}

describe('a flush', () => {
  it('stores rows of several accounts in one block per table, each account later than its watermark', async () => {
    const [a = '', b = ''] = await accounts(2)
    await stores.postgres`INSERT INTO watermarks VALUES (${a}, 'clicks', '2036-01-01')`
    const inserts: string[] = []
    const set = await open(
      interceptClickHouse(stores, ({ method, text }) => {
        if (method === 'exec') inserts.push(/INTO (\w+)/.exec(text)?.[1] ?? '')
      }),
    )
    await claimAccounts(set, [a, b])
    expect(await store(set, rowsOfStep([a, b], 1))).toEqual(Array(12).fill('inserted'))
    expect(inserts).toEqual(['clicks', 'converted_click_rows', 'conversions'])
    await set.close()
    const query = `SELECT account_id, uniqExact(stored_at) AS times, max(stored_at) > '2036-01-01' AS isLate, count() AS rows
      FROM clicks WHERE account_id IN ('${a}', '${b}') GROUP BY account_id ORDER BY account_id`
    expect(await rowsOf(stores, query)).toEqual([
      { account_id: a, times: 1, isLate: 1, rows: 3 },
      { account_id: b, times: 1, isLate: 0, rows: 3 },
    ])
    const statement = `SELECT uniqExact(account_id, click_id) AS n FROM converted_clicks WHERE account_id IN ('${a}', '${b}')`
    expect(await rowsOf(stores, statement)).toEqual([{ n: 2 }])
  })

  it('attributes conversions that wait for its clicks in the same block, and reads none that does not', async () => {
    const both = await accounts(2)
    const sent: unknown[] = []
    let clickInserts = 0
    const set = await open(
      interceptClickHouse(stores, async ({ method, text, label, send }) => {
        if (label === 'import.late_clicks' || label === 'import.all_awaited_clicks') sent.push(label)
        if (method !== 'exec') return
        if (text.includes('INTO conversions')) sent.push('conversions')
        if (!text.includes('INTO clicks')) return
        clickInserts += 1
        if (clickInserts < 3) return
        // The last step does not know whether its clicks are stored.
        await send()
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }),
    )
    await claimAccounts(set, both)
    const awaited = new AwaitedClicks(set)
    const waiting = `SELECT click_id FROM conversions FINAL
      WHERE account_id IN ('${both.join(`', '`)}') AND click_at IS NULL AND click_id LIKE 'late%'`
    for (const step of [1, 2, 3]) {
      await store(set, rowsOfStep(both, step), { awaited })
      const click_id = `late${step}`
      expect(await rowsOf(stores, waiting)).toEqual([{ click_id }, { click_id }])
    }
    await set.close()
    const [fill, read, write] = ['import.all_awaited_clicks', 'import.late_clicks', 'conversions']
    expect(sent).toEqual([fill, write, read, write, read, write])
    await mustHave(both, 3)
  })

  it.each<Filling>(['await', 'meanwhile'])(
    'that is sent again when the filter of stored clicks begins stores its clicks once: %s',
    async (filling) => {
      const [a = ''] = await accounts(1)
      let isBroken = true
      let fillings = 0
      const set = await open(
        interceptClickHouse(stores, ({ method, text, label }) => {
          if (label === 'import.all_clicks') fillings += 1
          if (!isBroken || method !== 'exec' || !text.startsWith('INSERT INTO clicks ')) return
          isBroken = false
          throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
        }),
      )
      const existing = new ExistingKeys(set, storedClicks, filling)
      existing.claimed(await claimAccounts(set, [a]))
      // The second look-up of the first flush begins it.
      await existing.findExisting(Array.from({ length: 9_996 }, (_, n) => keyText({ accountId: a, id: `other${n}` })))
      const results = []
      for (let n = 0; n < 9; n++) {
        const [rows] = rowsOfStep([a], 1)
        results.push(...(await store(set, rows ? [{ ...rows, conversions: [] }] : [], { clicks: existing })))
      }
      expect(results).toEqual([...Array(3).fill('inserted'), ...Array(24).fill('duplicate')])
      // A full filter is replaced by a larger one, also if no account is new.
      const full = vi.spyOn(BloomFilter.prototype, 'hasRoomFor').mockReturnValue(false)
      await until(async () => {
        await existing.findExisting([keyText({ accountId: a, id: 'new' })])
        return fillings >= 2
      })
      full.mockRestore()
      await set.close()
    },
  )

  async function mustHave(accountIds: readonly string[], steps: number): Promise<void> {
    for (const accountId of accountIds) {
      const [clicks, conversions] = [new Set<string>(), new Map<string, string>()]
      for (let step = 1; step <= steps; step++) {
        const [rows] = rowsOfStep([accountId], step)
        for (const { id } of rows?.clicks ?? []) clicks.add(id)
        for (const { id, status } of rows?.conversions ?? []) conversions.set(id, status)
      }
      const where = `WHERE account_id = '${accountId}' ORDER BY id`
      const stored = await rowsOf<{ id: string }>(stores, `SELECT id FROM clicks ${where}`)
      expect(stored.map(({ id }) => id)).toEqual([...clicks].sort())
      expect(await rowsOf(stores, `SELECT id, status FROM conversions FINAL ${where}`)).toEqual(
        [...conversions].sort().map(([id, status]) => ({ id, status })),
      )
      expect(await withWriter(stores, accountId, findDifferences)).toEqual([])
    }
  }
})

async function storeClicks(accountId: string, ids: readonly string[]): Promise<void> {
  const values = ids.map((id) => ({ account_id: accountId, id, clicked_at: 0 }))
  await stores.clickhouse.client.insert({ table: 'click_index', values, format: 'JSONEachRow' })
}

/** What a process does with one of its accounts: it stores keys, or releases it, perhaps so that another process stores some. */
const step = fc.record({
  account: fc.nat({ max: 2 }),
  action: fc.constantFrom('store', 'release', 'release to another process'),
})

it.each<Filling>(['await', 'meanwhile'])(
  'stored clicks are always found, with a filter that is filled: %s',
  async (filling) => {
    let reads = 0
    const slowReads = interceptClickHouse(stores, ({ label, text }) => {
      if (label !== 'import.all_clicks') return undefined
      reads += 1
      // It has a snapshot of the table from before the sleep, and ends after later steps.
      return text.replace(' FORMAT', ` WHERE sleep(${filling === 'await' ? 0 : 0.15}) = 0 FORMAT`)
    })
    const random = fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 12 }), async (steps) => {
      const [set, other] = [await openWriteSession(slowReads, running), await openWriteSession(stores, running)]
      const existing = new ExistingKeys(set, storedClicks, filling)
      const three = await accounts(3)
      const stored = new Map(three.map((accountId) => [accountId, ['first']]))
      for (const accountId of three) await storeClicks(accountId, ['first'])
      existing.claimed(await claimAccounts(set, three))
      const others = three.flatMap((accountId) =>
        Array.from({ length: 4_000 }, (_, n) => keyText({ accountId, id: `other${n}` })),
      )
      expect(await existing.findExisting(others)).toEqual(new Set())
      for (const [number, { account, action }] of steps.entries()) {
        const accountId = three[account] ?? ''
        const ids = [`${action} ${number}`, `b${number}`]
        if (action === 'store') await existing.findExisting(ids.map((id) => keyText({ accountId, id })))
        else await releaseAccounts(set, [accountId])
        if (action === 'release to another process') await claimAccounts(other, [accountId])
        if (action !== 'release') {
          await storeClicks(accountId, ids)
          stored.get(accountId)?.push(...ids)
        }
        await releaseAccounts(other, [accountId])
        if (action !== 'store') existing.claimed(await claimAccounts(set, [accountId]))
        const keys = three.flatMap((of) => (stored.get(of) ?? []).map((id) => keyText({ accountId: of, id })))
        expect(await existing.findExisting([...keys, `${accountId} unknown`])).toEqual(new Set(keys))
      }
      for (const one of [set, other]) await one.close()
    })
    await fc.assert(random, { numRuns: randomCasesFactor })
    expect(reads).toBeGreaterThan(0)
  },
)
