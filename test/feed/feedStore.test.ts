import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type FeedStore, openFeedStore } from '../../src/feed/feedStore.ts'
import { originsOf } from '../../src/feed/rowOrigins.ts'
import { type FeedRow, otherWriter, type RowResult } from '../../src/feed/rows.ts'
import type { ImportName } from '../../src/import/resourceNames.ts'
import { addErasures, identifierHash } from '../../src/writer/erasure/erasures.ts'
import { openWriter, tryWithWriter } from '../../src/writer/openWriter.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { makeAccount, rowsOf } from '../import/runImport.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { interceptPostgres } from '../kit/interceptedPostgres.ts'
import { Killed } from '../kit/killedStores.ts'
import { expireProcessOf } from '../kit/leases.ts'
import { until } from '../kit/until.ts'
import { shortWindow } from '../writer/killedImport.ts'
import { running, withWriter } from '../writer/withWriter.ts'

const stores = useTestStores()
const opened: FeedStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.claims.close()
})

const said: string[] = []
function open(from: Parameters<typeof openFeedStore>[0] = stores): FeedStore {
  const store = openFeedStore(from, { onMessage: (line) => said.push(line), ...shortWindow })
  opened.push(store)
  return store
}

const origin = originsOf(false, () => Date.UTC(2026, 0, 9))()
const row = (accountId: string, resource: ImportName, fields: object): FeedRow => ({
  accountId,
  resource,
  bytes: Buffer.from(JSON.stringify({ accountId, resource, ...fields })),
  origin,
  line: 0,
})

const click = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'clicks', { id, clickedAt: '2026-01-05T00:00:00Z', campaignId: 'c', ...fields })
const sale = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'conversions', { id, convertedAt: '2026-01-06T00:00:00Z', status: 'pending', ...fields })
const spend = (accountId: string, cost: number, fields: object = {}) =>
  row(accountId, 'costs', { spentAt: '2026-01-06T00:00:00Z', campaignId: 'c', cost, ...fields })
const event = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'pixel-events', { id, eventName: 'view', visitorId: 'v', campaignId: 'c', ...fields })
const campaign = (accountId: string, id: string, fields: object = {}) =>
  row(accountId, 'campaigns', { id, name: 'Spring', ...fields })

const resultsOf = (results: readonly RowResult[]) => results.map(({ result }) => result)

/** Claims the accounts of rows and stores them. */
async function store(into: FeedStore, rows: readonly FeedRow[]): Promise<string[]> {
  await into.claims.claim([...new Set(rows.map(({ accountId }) => accountId))])
  return resultsOf(await into.flush(rows))
}

async function accounts(): Promise<[string, string]> {
  return [await makeAccount(stores), await makeAccount(stores)]
}

describe('a flush', () => {
  it('replaces a cost by the row with the later updatedAt, and rejects a cost without one', async () => {
    const [a, b] = await accounts()
    const feed = open()
    const at = (day: number) => ({ updatedAt: `2026-01-0${day}T00:00:00Z` })
    expect((await store(feed, [spend(a, 1, at(2)), spend(b, 5, at(2)), spend(a, 2)])).join(' ')).toBe(
      'inserted inserted rejected',
    )
    const later = originsOf(false, Date.now)(Date.UTC(2026, 0, 8))
    const rows = [spend(a, 3, at(1)), spend(a, 4, at(2)), { ...spend(a, 6), origin: later }, spend(b, 5, at(9))]
    expect(await store(feed, rows)).toEqual(['older', 'conflict', 'updated', 'updated'])
    // Rows that repeat the stored values have their own time, also if their source gives it.
    const latest = originsOf(false, Date.now)(Date.UTC(2026, 0, 10))
    expect(
      (await store(feed, [{ ...spend(a, 6), origin: latest }, spend(a, 7, at(9)), spend(b, 7, at(8))])).join(' '),
    ).toBe('updated older older')
    const query = `SELECT account_id AS id, toFloat64(sum(cost)) AS cost FROM sums_by_quarter_hour
      WHERE account_id IN ('${a}', '${b}') GROUP BY id`
    const sums = await rowsOf<{ id: string; cost: number }>(stores, query)
    expect(new Map(sums.map(({ id, cost }) => [id, cost]))).toEqual(
      new Map([
        [a, 6],
        [b, 5],
      ]),
    )
  })

  it('looks up no click that repeats one of the last rows literally, and finds other values of it', async () => {
    const [a, b] = await accounts()
    const labels: unknown[] = []
    const feed = open(interceptClickHouse(stores, ({ label }) => labels.push(label)))
    const given = { country: 'FR' }
    expect(await store(feed, [click(a, 'k1', given), click(b, 'k1')])).toEqual(['inserted', 'inserted'])
    const other = click(a, 'k1', { country: 'DE' })
    expect(await store(feed, [other, click(a, 'k1', given)])).toEqual(['conflict', 'duplicate'])
    labels.length = 0
    expect(await store(feed, [click(a, 'k1', given), click(b, 'k1')])).toEqual(['duplicate', 'duplicate'])
    expect(labels).toEqual([])
    const conflicts = [other, click(b, 'k1', given), other]
    expect(await store(feed, conflicts)).toEqual(['conflict', 'conflict', 'conflict'])
  })

  it('whose statements have unknown outcomes stores each row of each month once, and returns the results of the first attempt', async () => {
    const [a, b] = await accounts()
    for (const account of [a, b])
      await stores.postgres`
        INSERT INTO retained_ranges (account_id, resource, retained_from, is_complete) VALUES (${account}, 'clicks', '2026-01-01', true)`
    const broken: string[] = []
    const repairs: unknown[] = []
    const feed = open(
      interceptClickHouse(stores, async ({ method, text, label, send }) => {
        if (label === 'repair.sums_by_day') repairs.push(label)
        const [, table = ''] = /^INSERT INTO (clicks|conversions|pixel_events) /.exec(text) ?? []
        if (method !== 'exec' || table === '' || broken.includes(table)) return
        broken.push(table)
        await send()
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }),
    )
    const late = '2026-02-05T00:00:00Z'
    const rows = [a, b].flatMap((account) => [
      campaign(account, 'c'),
      click(account, 'k1'),
      click(account, 'k2', { clickedAt: late }),
      click(account, 'k1'),
      sale(account, 's1', { clickId: 'k1' }),
      sale(account, 's2', { convertedAt: late }),
      sale(account, 's3', { convertedAt: '2025-12-05T00:00:00Z' }),
      event(account, 'e1'),
    ])
    const ofAccount = [...Array(3).fill('inserted'), 'duplicate', ...Array(4).fill('inserted')]
    expect(await store(feed, rows)).toEqual([...ofAccount, ...ofAccount])
    expect(broken).toEqual(['clicks', 'conversions', 'pixel_events'])
    // Of both accounts together.
    expect(repairs).toHaveLength(4)
    expect(await store(feed, rows)).toEqual(Array(16).fill('duplicate'))
    for (const [table, count] of Object.entries({ clicks: 2, conversions: 3, pixel_events: 1 })) {
      const query = `SELECT toUInt32(count()) AS n FROM ${table} WHERE account_id IN ('${a}', '${b}') GROUP BY account_id`
      expect(await rowsOf(stores, query)).toEqual([{ n: count }, { n: count }])
    }
    await feed.claims.close()
    await mustBeComplete(a, b)
  })

  it('whose insert of clicks fails stores a change of a status that it has not sent yet', async () => {
    const [a] = await accounts()
    let isBroken = false
    const feed = open(
      interceptClickHouse(stores, ({ method, text }) => {
        if (!isBroken || method !== 'exec' || !text.startsWith('INSERT INTO clicks ')) return
        isBroken = false
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }),
    )
    expect(await store(feed, [sale(a, 's1')])).toEqual(['inserted'])
    isBroken = true
    const change = { id: 's1', status: 'approved', updatedAt: '2026-01-07T00:00:00Z' }
    expect(await store(feed, [click(a, 'k1'), row(a, 'conversion-statuses', change)])).toEqual(['inserted', 'updated'])
    const status = `SELECT status FROM conversions FINAL WHERE account_id = '${a}'`
    expect([isBroken, await rowsOf(stores, status)]).toEqual([false, [{ status: 'approved' }]])
  })

  it('whose journal did not confirm a record stores its rows once', async () => {
    const [a, b] = await accounts()
    let lost = 0
    const unconfirmed = interceptPostgres(stores.postgres, (text, run) => {
      // The first statement of a flush of clicks that depends on the lease.
      if (lost !== 1 || !/^\s*WITH held AS/.test(text)) return run()
      lost = 2
      return run().then(() => {
        throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' })
      })
    })
    const feed = open({ clickhouse: stores.clickhouse, postgres: unconfirmed })
    await feed.claims.claim([a, b])
    lost = 1
    expect(await store(feed, [click(a, 'k1'), click(b, 'k1')])).toEqual(['inserted', 'inserted'])
    const untilRelease = [{ token: 'attribute_late_clicks' }]
    expect([lost, await openTasks(a), await openTasks(b)]).toEqual([2, untilRelease, untilRelease])
    await feed.claims.release([a])
    expect([await openTasks(a), await openTasks(b)]).toEqual([[], untilRelease])
    await feed.claims.close()
    await mustBeComplete(a, b)
  })

  /** Entries of the journal and tasks. */
  async function openTasks(account: string): Promise<readonly object[]> {
    return await stores.postgres`
      SELECT token FROM import_batches WHERE account_id = ${account}
      UNION ALL SELECT task FROM account_tasks WHERE account_id = ${account}`
  }

  it('rejects rows of removed months, of deleted accounts and of accounts until their import has ended; the others are stored', async () => {
    const [a, deleted] = await accounts()
    const imported = await makeAccount(stores)
    await stores.postgres`
      INSERT INTO retained_ranges (account_id, resource, retained_from, is_complete) VALUES (${a}, 'clicks', '2026-01-01', true)`
    await stores.postgres`INSERT INTO account_deletions (account_id) VALUES (${deleted})`
    await stores.postgres`UPDATE accounts SET import_of = 'export' WHERE id = ${imported}`
    const feed = open()
    const rows = [
      click(a, 'k1', { clickedAt: '2025-12-31T00:00:00Z' }),
      click(a, 'k2', { campaignId: undefined }),
      campaign(deleted, 'c'),
      sale(imported, 's1'),
    ]
    await feed.claims.claim([a, deleted, imported])
    expect(await feed.flush(rows)).toEqual([
      { result: 'rejected', reason: 'clickedAt: is before 2026-01-01; the account has removed earlier rows' },
      { result: 'inserted' },
      { result: 'rejected', reason: 'accountId: the account has been deleted' },
      { result: 'rejected', reason: 'accountId: the account is being imported' },
    ])
    await stores.postgres`UPDATE accounts SET import_of = NULL WHERE id = ${imported}`
    expect(await store(feed, rows.slice(1))).toEqual(['duplicate', 'rejected', 'inserted'])
  })

  it('erases what was stored of a click before it arrives and has an erased visitor, while other accounts are stored', async () => {
    const [a, b] = await accounts()
    const feed = open()
    const buyer = { clickId: 'k1', sub1: 'anna', convertedAt: '2024-02-01T00:00:00Z' }
    expect(await store(feed, [sale(a, 's1', buyer)])).toEqual(['inserted'])
    await feed.claims.release([a])
    const key = randomUUID()
    const erasure = { kind: 'visitor' as const, key, hash: identifierHash(key, 'visitor', 'v1') }
    await withWriter(stores, a, (writer) => addErasures(writer, [{ ...erasure, erasedMs: Date.UTC(2025, 0, 1) }]))
    await until(async () => (await feed.claims.claim([a])).has(a))
    const rows = [click(a, 'k1', { visitorId: 'v1', city: 'Lyon', clickedAt: '2024-01-01T00:00:00Z' }), click(b, 'k1')]
    expect(await store(feed, rows)).toEqual(['inserted', 'inserted'])
    expect(await feed.claims.claim([a, b])).toEqual(new Set([b]))
    expect(await store(feed, [click(b, 'k2')])).toEqual(['inserted'])
    await until(async () => (await feed.claims.claim([a])).has(a))
    expect(await rowsOf(stores, `SELECT visitor_id, city FROM clicks WHERE account_id = '${a}'`)).toEqual([
      { visitor_id: '', city: '' },
    ])
    const kept = `SELECT sub1, click_visitor_id, click_at > 0 AS found FROM conversions FINAL WHERE account_id = '${a}'`
    expect(await rowsOf(stores, kept)).toEqual([{ sub1: '', click_visitor_id: '', found: 1 }])
    expect(await stores.postgres`SELECT kind FROM erasures WHERE account_id = ${a} AND is_complete ORDER BY 1`).toEqual(
      [{ kind: 'click' }, { kind: 'visitor' }],
    )
    // The sender repeats it: nothing is left to erase. A duplicate that names the visitor erases nothing.
    expect(await store(feed, rows.slice(0, 1))).toEqual(['duplicate'])
    const byOther = (id: string, visitorId: string) =>
      click(a, id, { visitorId, clickedAt: '2024-01-01T00:00:00Z', city: 'Nice' })
    const more = [byOther('k2', 'v2'), sale(a, 's2', { ...buyer, clickId: 'k2' }), byOther('k2', 'v1')]
    expect(await store(feed, more)).toEqual(['inserted', 'inserted', 'duplicate'])
    expect(await store(feed, [byOther('k2', 'v1'), byOther('k2', 'v1')])).toEqual(['duplicate', 'duplicate'])
    expect(await feed.claims.claim([a])).toEqual(new Set([a]))
    expect(
      await rowsOf(stores, `SELECT sub1, click_city FROM conversions FINAL WHERE account_id = '${a}' AND id = 's2'`),
    ).toEqual([{ sub1: 'anna', click_city: 'Nice' }])
  })
})

describe('accounts', () => {
  it('with an erasure that cannot be completed are stored, and it is tried again later', async () => {
    const [a] = await accounts()
    await stores.postgres.unsafe(`
      CREATE FUNCTION leave() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.is_complete := false; RETURN NEW; END';
      CREATE TRIGGER leave BEFORE UPDATE ON erasures FOR EACH ROW WHEN (NEW.account_id = '${a}') EXECUTE FUNCTION leave()`)
    await stores.postgres`
      INSERT INTO erasures (account_id, kind, key, hash, erased_at)
      VALUES (${a}, 'visitor', ${randomUUID()}, decode(repeat('00', 32), 'hex'), '2025-01-01')`
    const feed = open()
    expect(await feed.claims.claim([a])).toEqual(new Set())
    await until(async () => (await feed.claims.claim([a])).has(a))
    expect(await feed.flush([click(a, 'k1', { campaignId: undefined })])).toEqual([{ result: 'inserted' }])
    expect([await feed.claims.readUnneeded(), await feed.claims.claim([a])]).toEqual([[], new Set([a])])
    const nowMs = performance.now()
    vi.spyOn(performance, 'now').mockReturnValue(nowMs + 61_000)
    expect(await feed.claims.claim([a])).toEqual(new Set())
    vi.restoreAllMocks()
    await stores.postgres.unsafe('DROP TRIGGER leave ON erasures; DROP FUNCTION leave')
  })

  it('whose work writers of their own complete are not claimed meanwhile, also if they were to be released', async () => {
    const [a] = await accounts()
    let isBroken = false
    const { clickhouse } = interceptClickHouse(stores, ({ method, text }) => {
      if (isBroken && method === 'exec' && text.startsWith('INSERT INTO clicks ')) throw new Error('broken')
    })
    const statements: string[] = []
    let complete = () => {}
    const paused = new Promise<void>((resolve) => {
      complete = resolve
    })
    const postgres = interceptPostgres(stores.postgres, (text, run) => {
      if (!isBroken || !text.includes('INSERT INTO leases')) return run()
      statements.push(text)
      // The first one is of the writer of the account.
      return statements.length === 1 ? paused.then(run) : run()
    })
    const feed = open({ clickhouse, postgres })
    expect(await store(feed, [click(a, 'k1')])).toEqual(['inserted'])
    await stores.postgres`
      INSERT INTO erasures (account_id, kind, key, hash, erased_at)
      VALUES (${a}, 'visitor', ${randomUUID()}, decode(repeat('00', 32), 'hex'), '2025-01-01')`
    isBroken = true
    await expect(store(feed, [click(a, 'k2')])).rejects.toThrow('broken')
    await feed.claims.release([a])
    expect([await feed.claims.claim([a]), statements.length]).toEqual([new Set(), 1])
    isBroken = false
    complete()
    await until(async () => (await feed.claims.claim([a])).has(a))
    expect(await store(feed, [click(a, 'k1'), click(a, 'k2')])).toEqual(['duplicate', 'inserted'])
  })

  it('are not needed after a minute without rows, also if a flush took longer', async () => {
    const [a, b] = await accounts()
    const clock = vi.spyOn(performance, 'now')
    onTestFinished(() => void clock.mockRestore())
    const pass = (ms: number) => clock.mockReturnValue(performance.now() + ms)
    pass(0)
    const feed = open(
      interceptClickHouse(stores, ({ text }) => {
        if (text.startsWith('INSERT INTO clicks ')) pass(90_000)
      }),
    )
    await feed.claims.claim([b])
    expect(await store(feed, [click(a, 'k1', { campaignId: undefined })])).toEqual(['inserted'])
    expect(await feed.claims.readUnneeded()).toEqual([b])
    pass(58_000)
    expect(await feed.claims.readUnneeded()).toEqual([b])
    pass(2_000)
    expect(new Set(await feed.claims.readUnneeded())).toEqual(new Set([a, b]))
  })

  it('are in one of two stores that claim them at the same time', async () => {
    const ids = [...(await accounts()), ...(await accounts())]
    const [one, other] = [open(), open()]
    const claims = await Promise.all([one.claims.claim(ids), other.claims.claim([...ids].reverse())])
    expect(claims.flatMap((claimed) => [...claimed]).sort()).toEqual([...ids].sort())
    expect(await one.flush([click(ids[0] ?? '', 'k1', { campaignId: undefined })])).toEqual([
      claims[0].has(ids[0] ?? '') ? { result: 'inserted' } : otherWriter,
    ])
  })

  it('are released also when their late clicks cannot be attributed, which the next writer does', async () => {
    const [a] = await accounts()
    const feed = open(
      interceptClickHouse(stores, ({ label }) => {
        if (label === 'import.late_clicks') throw new Error('broken')
      }),
    )
    expect(await store(feed, [click(a, 'k1')])).toEqual(['inserted'])
    await feed.claims.release([a])
    const openTasks = () => stores.postgres`SELECT task FROM account_tasks WHERE account_id = ${a}`
    expect(await openTasks()).toEqual([{ task: 'attribute_late_clicks' }])
    await mustBeComplete(a)
    expect(await openTasks()).toEqual([])
  })

  it('are not claimed while a request is fresh', async () => {
    const [a] = await accounts()
    const feed = open()
    await feed.claims.claim([a])
    const request = (at: string) =>
      stores.postgres`UPDATE leases SET wanted_at = clock_timestamp() + ${at}::interval WHERE name = ${`writer:${a}`}`
    await request('1 hour')
    await feed.claims.release([a])
    expect(await feed.claims.claim([a])).toEqual(new Set())
    await request('-3 s')
    expect(await feed.claims.claim([a])).toEqual(new Set([a]))
  })

  it('are handed over to work that only tries, which does not wait for an import', async () => {
    const [a] = await accounts()
    const feed = open()
    await feed.claims.claim([a])
    const trying = tryWithWriter(stores, a, running, async () => 'done')
    await until(async () => (await feed.claims.readUnneeded()).length > 0)
    await feed.claims.release([a])
    expect(await trying).toBe('done')
    const importing = await openWriter(stores, a, running)
    expect(await tryWithWriter(stores, a, running, async () => 'done')).toBe(undefined)
    await importing.close()
  })

  it('of a store that was killed are repaired together by the next one', async () => {
    const [a, b] = await accounts()
    const killed = interceptClickHouse(stores, ({ text }) => {
      if (text.startsWith('INSERT INTO conversions ')) throw new Killed()
    })
    const first = openFeedStore(killed, { onMessage: () => {}, ...shortWindow })
    const rows = [a, b].flatMap((account) => [click(account, 'k1'), sale(account, 's1', { clickId: 'k1' })])
    await expect(store(first, rows)).rejects.toThrow(Killed)
    const next = open()
    // The killed store still extends its lease.
    await until(async () => {
      await expireProcessOf(stores, a)
      return (await next.claims.claim([a, b])).size === 2
    })
    expect(await store(next, rows)).toEqual(['duplicate', 'inserted', 'duplicate', 'inserted'])
    await next.claims.close()
    await mustBeComplete(a, b)
  })
})

async function mustBeComplete(...accountIds: string[]): Promise<void> {
  for (const account of accountIds) expect(await withWriter(stores, account, findDifferences)).toEqual([])
}
