// @module-tag postgres

import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { TooManyRejects } from '../../src/import/rejects.ts'
import type { ImportName } from '../../src/import/resourceNames.ts'
import { LeaseLost } from '../../src/stores/postgres/lease.ts'
import { openWriter } from '../../src/writer/openWriter.ts'
import { storeMetadata } from '../../src/writer/store/metadata.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { importContent, makeAccount, rowsOf } from './runImport.ts'

// Which rows are stored, and the counts of an import: the random imports of test/properties/reports and test/writer/repair.

const stores = useTestStores()
let account: string
beforeEach(async () => {
  account = await makeAccount(stores)
})

const counts = (read: number, inserted: number, updated: number, duplicates: number, rejected: number) => ({
  read,
  inserted,
  updated,
  duplicates,
  rejected,
})
const stored = <Row>(columns: string, table: string, rest = '') =>
  rowsOf<Row>(stores, `SELECT ${columns} FROM ${table} WHERE account_id = '${account}' ${rest}`)
const clickAt = (id: string, minute: number, more: object = {}) => ({
  id,
  clickedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
  ...more,
})

it('clicks of the first and last accepted day are counted on their day', async () => {
  const rows = [
    { id: 'first', clickedAt: '1970-01-01T00:00:00Z' },
    { id: 'last', clickedAt: '2105-12-31T23:59:59.999Z' },
  ]
  expect(await importContent(stores, account, 'clicks', rows)).toMatchObject(counts(2, 2, 0, 0, 0))
  expect(await stored('day, clicks', 'sums_by_day', "AND dimension = 'os' ORDER BY day")).toEqual([
    { day: '1970-01-01', clicks: 1 },
    { day: '2105-12-31', clicks: 1 },
  ])
  expect(await stored('bucket', 'sums_by_quarter_hour', 'ORDER BY bucket')).toEqual([
    { bucket: '1970-01-01 00:00:00' },
    { bucket: '2105-12-31 23:45:00' },
  ])
})

describe('a file', () => {
  it.each([
    ['is truncated', { cut: -4, more: [], rejectLimit: undefined, error: /truncated/ }],
    [
      'has too many rejected rows',
      { cut: undefined, more: [{ id: 'x' }], rejectLimit: { rows: 0 }, error: TooManyRejects },
    ],
  ])(
    'that %s has its complete batches stored, and the complete file adds the rest',
    { tags: 'long' },
    async (_, { cut, more, rejectLimit, error }) => {
      // A batch has 50,000 rows, or 30 MiB.
      const rows = Array.from({ length: 40_000 }, (_, n) => ({ ...clickAt(`c${n}`, 0), userAgent: 'x'.repeat(1_000) }))
      const content = gzipSync([...rows, ...more, clickAt('last', 0)].map((row) => `${JSON.stringify(row)}\n`).join(''))
      const take = (bytes: Buffer, options: object = {}) =>
        importContent(stores, account, 'clicks', bytes, { name: 'rows.ndjson.gz', ...options })
      await expect(take(content.subarray(0, cut), rejectLimit && { rejectLimit })).rejects.toThrow(error)
      const kept = (await stored('id', 'clicks')).length
      expect(kept).toBeGreaterThan(10_000)
      expect(kept).toBeLessThan(40_001)
      const [read, rejected] = [40_001 + more.length, more.length]
      expect(await take(content)).toMatchObject(counts(read, 40_001 - kept, 0, kept, rejected))
      expect(await take(content)).toMatchObject(counts(read, 0, 0, 40_001, rejected))
      expect(await stored('sum(clicks) AS n', 'sums_by_day', "AND dimension = 'os'")).toEqual([{ n: 40_001 }])
    },
  )

  it('warns of rows that name campaigns which the account does not have', async () => {
    const warningsOf = async (resource: ImportName, rows: object[]) =>
      (await importContent(stores, account, resource, rows)).said
    await importContent(stores, await makeAccount(stores), 'campaigns', [{ id: 'c1', name: 'of another account' }])
    await importContent(stores, account, 'campaigns', [{ id: 'c0', name: 'C' }])
    const ids = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c1']
    const clicks = ids.map((campaignId, n) => clickAt(`k${n}`, n, { campaignId }))
    expect(await warningsOf('clicks', [...clicks, clickAt('none', 0)])).toEqual([
      'warning: 7 rows name campaigns that the account does not have (c1, c2, c3, c4, c5, …). POST /events responds with click_not_found for clicks of such a campaign until it is imported.',
    ])
    const conversion = { id: 'v', convertedAt: '2026-01-01T00:00:00Z', status: 'pending', campaignId: 'c1' }
    expect(await warningsOf('conversions', [conversion])).toEqual([
      expect.stringContaining('1 row names a campaign that the account does not have (c1).'),
    ])
    const event = { id: 'e', eventName: 'signup', visitorId: 'v' }
    expect(await warningsOf('pixel-events', [{ ...event, campaignId: 'c0' }])).toEqual([])
    expect(await warningsOf('pixel-events', [{ ...event, id: 'e9', campaignId: 'c9' }])).toHaveLength(1)
  })

  it('that is interrupted does not delay the next import', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(importContent(stores, account, 'clicks', [clickAt('a', 0)], { signal })).rejects.toThrow('enough')
    const done = await importContent(stores, account, 'clicks', [clickAt('a', 0)])
    expect(done).toMatchObject({ ...counts(1, 1, 0, 0, 0), said: [] })
  })
})

it('a conversion has the visitor of its click, which is copied to converted_click_rows once', async () => {
  const clicks = [clickAt('k', 1, { city: 'Köln', visitorId: 'who' }), clickAt('other', 2)]
  await importContent(stores, account, 'clicks', clicks)
  const conversion = { id: 'v', convertedAt: '2026-02-01T00:00:00Z', status: 'pending', clickId: 'k' }
  for (const updatedAt of ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'])
    await importContent(stores, account, 'conversions', [{ ...conversion, updatedAt }])
  expect(await stored('visitor_id', 'conversions FINAL')).toEqual([{ visitor_id: 'who' }])
  expect(await stored('*', 'converted_click_rows')).toEqual(await stored('*', 'clicks', "AND id = 'k'"))
})

describe('a duplicate', () => {
  /** @returns the counts within the duplicates, and the warning */
  const send = async (resource: ImportName, ...rows: object[]) => {
    const { duplicates, older, conflicting, said } = await importContent(stores, account, resource, rows)
    return { duplicates, older, conflicting, said }
  }
  const equal = (duplicates: number) => ({ duplicates, older: 0, conflicting: 0, said: [] })

  it('of a click conflicts if a value that its row gives differs, also within one file', async () => {
    const click = clickAt('k', 1, { cost: 0.25, device: 'mobile', isTest: true, sub1: 's' })
    await importContent(stores, account, 'clicks', [click])
    const exactly = {
      ...click,
      cost: '0.250000',
      clickedAt: '2026-01-01T01:01:00+01:00',
      isBot: false,
      subIds: { sub1: 's' },
    }
    expect(await send('clicks', click, exactly, clickAt('k', 1))).toEqual(equal(3))
    const others = [{ cost: 0.26 }, { isTest: false }, { city: 'Köln' }, { sub1: 't' }, { isBot: true }]
    const rows = [clickAt('k', 2), ...others.map((other) => ({ ...click, ...other }))]
    expect(await send('clicks', ...rows, clickAt('new', 1), clickAt('new', 1), clickAt('new', 1, { cost: 1 }))).toEqual(
      {
        duplicates: 8,
        older: 0,
        conflicting: 7,
        said: [
          'warning: 7 rows differ from the stored rows with their ids, and were not stored (k, k, k, …). A stored click never changes, so a repeated click corrects no cost. The first 1000 duplicates of an import are compared.',
        ],
      },
    )
  })

  it('of a click is compared if it is one of the first 1,000', async () => {
    const clicks = Array.from({ length: 1_002 }, (_, n) => clickAt(`k${n}`, 0))
    await importContent(stores, account, 'clicks', clicks)
    const others = clicks.map((click) => ({ ...click, cost: 1 }))
    const done = await importContent(stores, account, 'clicks', others)
    expect(done).toMatchObject({ duplicates: 1_002, conflicting: 1_000 })
  })

  it('of a conversion is older, or conflicts if its updatedAt is equal and a value that its row gives differs', async () => {
    await importContent(stores, account, 'clicks', [clickAt('k', 1, { country: 'DE', visitorId: 'who' })])
    const at = (day: number) => `2026-03-0${day}T00:00:00Z`
    const sale = {
      id: 'v',
      convertedAt: at(1),
      status: 'pending',
      clickId: 'k',
      source: 'revenue',
      revenue: 1,
      isTest: true,
    }
    await importContent(stores, account, 'conversions', [{ ...sale, updatedAt: at(2) }])
    const { source: _source, isTest: _isTest, revenue: _revenue, ...without } = sale
    const equals = [
      { ...without, createdAt: at(2) },
      { ...sale, updatedAt: at(2), country: '' },
    ]
    expect(await send('conversions', ...equals)).toEqual(equal(2))
    const others = [{ status: 'approved' }, { revenue: 2 }, { isTest: false }, { country: 'FR' }, { source: 'cpa' }]
    const rows = others.map((other) => ({ ...sale, updatedAt: at(2), ...other }))
    const done = await send('conversions', ...rows, { ...sale, status: 'approved' }, { ...sale, revenue: 3 })
    expect(done).toMatchObject({ duplicates: 7, older: 2, conflicting: 5 })
    expect(done.said).toEqual([
      'warning: 5 rows differ from the stored rows with their ids, and were not stored (v, v, v, …). To replace one, give its row a later updatedAt, such as --updated-at 2026-11-21T00:00:00Z.',
    ])
  })

  it('of a conversion conflicts with the row of another file or mapping, but not with a later line of its own file', async () => {
    const sale = (status: string) => ({ id: 'v', convertedAt: '2026-03-01T00:00:00Z', status })
    const file = [sale('pending'), sale('approved')]
    expect(await send('conversions', ...file)).toEqual(equal(0))
    expect(await send('conversions', ...file)).toEqual(equal(2))
    expect(await send('conversions', sale('declined'))).toMatchObject({ duplicates: 1, older: 0, conflicting: 1 })
    expect(await stored('status', 'conversions FINAL')).toEqual([{ status: 'approved' }])
  })

  it('of a pixel event conflicts if a value that its row gives differs', async () => {
    const event = { id: 'e', eventName: 'signup', visitorId: 'v', value: 1, properties: { a: 1 }, campaignId: 'c' }
    await importContent(stores, account, 'pixel-events', [event])
    await importContent(stores, account, 'campaigns', [{ id: 'c', name: 'C', userId: 'owner' }])
    const { value: _value, ...without } = event
    expect(await send('pixel-events', event, without)).toEqual(equal(2))
    const done = await send('pixel-events', { ...event, value: 2 }, { ...event, properties: { a: 2 } })
    expect(done).toMatchObject({ duplicates: 2, conflicting: 2 })
  })
})

describe('a change of the status of a conversion', () => {
  const at = (day: number) => `2026-03-0${day}T00:00:00.000Z`
  const sale = (id: string, more: object = {}) => ({
    id,
    transactionId: `t-${id}`,
    convertedAt: at(1),
    updatedAt: at(2),
    status: 'pending',
    clickId: 'k',
    payout: 1,
    revenue: 2,
    couponCode: 'spring',
    ...more,
  })
  const change = (day: number, more: object) => ({ status: 'approved', updatedAt: at(day), ...more })
  const send = (...rows: object[]) => importContent(stores, account, 'conversion-statuses', rows)
  /** A row of the table without what changes with each version, and its sums. */
  const rowsNow = async () => {
    const rows = await stored<Record<string, unknown> & { id: string }>('*', 'conversions FINAL', 'ORDER BY id')
    return rows.map(
      ({ stored_at: _storedAt, version: _version, import_file: _file, import_line: _line, ...row }) => row,
    )
  }
  const revenue = () => stored('toFloat64(sum(revenue)) AS revenue', 'sums_by_day', "AND dimension = 'os'")

  beforeEach(async () => {
    await importContent(stores, account, 'clicks', [clickAt('k', 1, { country: 'DE', visitorId: 'who', sub1: 's' })])
    await importContent(stores, account, 'conversions', [sale('a'), sale('b', { transactionId: 'both' })])
  })

  it('leaves all else as it is, by id and by transaction, and changes nothing when it is repeated', async () => {
    await importContent(stores, account, 'conversions', [sale('c', { transactionId: 'both' })])
    const other = await makeAccount(stores)
    await importContent(stores, other, 'conversions', [sale('a'), sale('b', { transactionId: 'both' })])
    const before = await rowsNow()
    const changes = [
      change(3, { id: 'a', transactionId: 't-a', externalStatus: 'ok', revenue: 2.5, payout: '1.5' }),
      change(4, { transactionId: 'both' }),
    ]
    expect(await send(...changes)).toMatchObject(counts(2, 0, 2, 0, 0))
    const first = {
      updated_at: '2026-03-03 00:00:00.000',
      external_status: 'ok',
      revenue: '2.5',
      revenue_base: '2.5',
      payout: '1.5',
    }
    const approved = { status: 'approved', updated_at: '2026-03-04 00:00:00.000' }
    const derived = { search_text: '', row_text: '' }
    const expected = before.map((row, index) => ({ ...row, ...approved, ...(index === 0 && first), ...derived }))
    expect((await rowsNow()).map((row) => ({ ...row, ...derived }))).toEqual(expected)
    expect(await revenue()).toEqual([{ revenue: 6.5 }])
    expect(await send(...changes)).toMatchObject(counts(2, 0, 0, 2, 0))
    const others = `SELECT DISTINCT status FROM conversions FINAL WHERE account_id = '${other}'`
    expect(await rowsOf(stores, others)).toEqual([{ status: 'pending' }])
  })

  it('is older, a duplicate, or a conflict, as a conversion is', async () => {
    const older = await send(change(1, { id: 'a' }), change(2, { id: 'a', status: 'pending' }))
    expect(older).toMatchObject({ ...counts(2, 0, 0, 2, 0), older: 1, conflicting: 0 })
    const conflict = await send(
      change(2, { transactionId: 'both' }),
      change(2, { id: 'a', status: 'pending', payout: 9 }),
    )
    expect(conflict).toMatchObject({ ...counts(2, 0, 0, 2, 0), older: 0, conflicting: 2 })
    expect(conflict.said).toEqual([expect.stringMatching(/not stored \(both, a\)\. To replace one, give its row a/)])
    expect(await stored('DISTINCT status', 'conversions FINAL')).toEqual([{ status: 'pending' }])
    // Of several conversions each has its own time.
    await importContent(stores, account, 'conversions', [sale('c', { transactionId: 'both', updatedAt: at(5) })])
    expect(await send(change(4, { transactionId: 'both' }))).toMatchObject({ ...counts(1, 0, 1, 0, 0), older: 0 })
    expect(await stored('status', 'conversions FINAL', "AND transaction_id = 'both' ORDER BY id")).toEqual([
      { status: 'approved' },
      { status: 'pending' },
    ])
    expect(await send(change(4, { transactionId: 'both' }))).toMatchObject({ duplicates: 1, older: 1 })
  })

  it('sees the rows of its file before it, also of an earlier batch', async () => {
    const rows = Array.from({ length: 10_000 }, (_, n) => change(3, { id: n % 2 ? 'a' : 'b', revenue: n }))
    const last = change(3, { id: 'a', status: 'refunded' })
    const file = [...rows, change(3, { transactionId: 'both', status: 'declined' }), last]
    const done = await send(...file)
    expect(done).toMatchObject({ read: 10_002, updated: 10_002, duplicates: 0 })
    const expected = [
      { status: 'refunded', revenue: 9_999 },
      { status: 'declined', revenue: 9_998 },
    ]
    const now = () => stored('status, toFloat64(revenue) AS revenue', 'conversions FINAL', 'ORDER BY id')
    expect(await now()).toEqual(expected)
    expect(await send(...file)).toMatchObject({ updated: 0, duplicates: 10_002, conflicting: 0 })
    expect(await now()).toEqual(expected)
  })

  it('is rejected if more than 1,000 conversions have its transaction, also if rows of its batch name some of them', async () => {
    const sales = Array.from({ length: 1_001 }, (_, n) => sale(`m${n}`, { transactionId: 'many' }))
    await importContent(stores, account, 'conversions', sales.slice(0, 1_000))
    expect(await send(change(3, { transactionId: 'many' }))).toMatchObject(counts(1, 0, 1, 0, 0))
    await importContent(stores, account, 'conversions', sales.slice(1_000))
    const { rejects, ...done } = await send(change(4, { id: 'm0' }), change(5, { transactionId: 'many' }))
    expect([done, rejects]).toMatchObject([
      counts(2, 0, 1, 0, 1),
      [{ line: 2, reason: expect.stringMatching(/more than 1000/) }],
    ])
    const days = await stored(
      'toDayOfMonth(updated_at) AS day, toUInt32(count()) AS rows',
      'conversions FINAL',
      "AND transaction_id = 'many' GROUP BY day ORDER BY day",
    )
    expect(days).toEqual([
      { day: 2, rows: 1 },
      { day: 3, rows: 999 },
      { day: 4, rows: 1 },
    ])
  })

  it('is rejected with its row if it names no conversion or has a wrong field', async () => {
    const unrated = 'revenueBase: is required, or exchangeRate, for an amount in EUR; --rates EUR=RATE gives one'
    const cases: [object, unknown][] = [
      [change(3, { id: 'unknown' }), 'id: names no stored conversion; send it again after the conversion'],
      [
        change(3, { transactionId: 'unknown' }),
        'transactionId: names no stored conversion, or more than 1000; send it again after the conversion',
      ],
      [
        change(3, { id: 'a', transactionId: 'both' }),
        'transactionId: differs from the transactionId of the conversion',
      ],
      [change(3, {}), 'id: is required, or transactionId'],
      [{ id: 'a', status: 'approved' }, 'updatedAt: is required'],
      [{ id: 'a', updatedAt: at(3) }, 'status: is required'],
      [change(3, { id: 'a', status: 'lost' }), expect.stringMatching(/^status: must be one of /)],
      [change(3, { id: 'a', currency: 'USD' }), 'currency: is not a field of conversion-statuses'],
      [change(3, { id: 'a', revenueBase: 3 }), 'revenueBase: must equal an amount in USD'],
      [change(3, { id: 'euro', revenue: 9 }), unrated],
      [change(3, { id: 'euro', payout: 9 }), unrated],
    ]
    await importContent(stores, account, 'conversions', [sale('euro', { currency: 'EUR', exchangeRate: 1.1 })])
    const before = await rowsNow()
    const { rejects, ...done } = await send(...cases.map(([row]) => row))
    expect(done).toMatchObject(counts(cases.length, 0, 0, 0, cases.length))
    expect(rejects.toSorted((a, b) => a.line - b.line)).toEqual(
      cases.map(([row, reason], at) => ({ line: at + 1, reason, row: JSON.stringify(row) })),
    )
    expect(await rowsNow()).toEqual(before)
  })

  it('has amounts in the currency of the conversion', async () => {
    const sales = [sale('euro', { currency: 'EUR', exchangeRate: 1.1 }), sale('none', { payout: null, revenue: null })]
    await importContent(stores, account, 'conversions', sales)
    const rated = change(3, { id: 'euro', revenue: 10, exchangeRate: 1.2 })
    expect(await send(rated, change(3, { id: 'none', revenue: 4 }))).toMatchObject({ updated: 2 })
    const now = () =>
      stored(
        'currency, toFloat64(revenue) AS r, toFloat64(revenue_base) AS b',
        'conversions FINAL',
        "AND id IN ('euro', 'none') ORDER BY id",
      )
    const none = { currency: 'USD', r: 4, b: 4 }
    expect(await now()).toEqual([{ currency: 'EUR', r: 10, b: 12 }, none])
    // Without an amount the rate changes nothing.
    await send(change(4, { id: 'euro', exchangeRate: 5 }), change(5, { id: 'euro', revenueBase: 13 }))
    expect(await now()).toEqual([{ currency: 'EUR', r: 10, b: 13 }, none])
  })

  it('ends the import when too many rows are rejected, also in the last batch', async () => {
    const rows = [change(3, { id: 'a' }), change(3, { id: 'x' }), change(3, { id: 'y' })]
    for (const rejectLimit of [{ percent: 50 }, { rows: 1 }]) {
      const sent = importContent(stores, account, 'conversion-statuses', rows, { rejectLimit })
      await expect(sent).rejects.toThrow(/2 of 3 rows were rejected/)
    }
  })
})

describe('a cost', () => {
  const row = { spentAt: '2026-11-01T00:00:00Z', country: 'DE', cost: 1 }
  const send = (...rows: object[]) => importContent(stores, account, 'costs', rows)

  it('without an id is one line of a file for each time and dimensions', async () => {
    const done = await send(row, { ...row, subIds: { sub1: 'a' } }, { ...row, country: null }, { ...row, cost: 5 })
    expect(done).toMatchObject(counts(4, 3, 0, 0, 1))
    expect(done.rejects).toMatchObject([
      { line: 4, reason: 'same day and dimensions as line 1: map `id` or another dimension' },
    ])
  })

  it('is older, or conflicts if its updatedAt is equal and a value differs', async () => {
    const at = (day: number, cost: number) => ({ ...row, id: 'x', cost, updatedAt: `2026-11-0${day}T00:00:00Z` })
    expect(await send(at(3, 3), at(2, 2))).toMatchObject({ ...counts(2, 1, 0, 1, 0), older: 1 })
    const conflict = await send(at(3, 4))
    expect(conflict).toMatchObject({ ...counts(1, 0, 0, 1, 0), conflicting: 1 })
    expect(conflict.said).toEqual([
      expect.stringMatching(/To replace one, give its row a later updatedAt, .* removed by its age stays taken\.$/),
    ])
  })
})

describe('pixel events', () => {
  const event = (id: string, more: object = {}) => ({ id, eventName: 'signup', visitorId: 'v', ...more })

  it('are identified by origin, id and generation, and stored once', async () => {
    const rows = [
      event('e'),
      event('e', { eventName: 'again' }),
      event('e', { origin: 'server' }),
      event('e', { generation: 1 }),
    ]
    expect(await importContent(stores, account, 'pixel-events', rows)).toMatchObject(counts(4, 3, 0, 1, 0))
    const again = [...rows, event('e', { origin: 'server', generation: 1 })]
    expect(await importContent(stores, account, 'pixel-events', again)).toMatchObject(counts(5, 1, 0, 4, 0))
    expect(await stored('origin, generation, event_name', 'pixel_events FINAL', 'ORDER BY origin, generation')).toEqual(
      ['browser', 'server'].flatMap((origin) =>
        [0, 1].map((generation) => ({ origin, generation, event_name: 'signup' })),
      ),
    )
  })

  it('belong to the owner of their campaign, or to the account', async () => {
    await importContent(stores, account, 'campaigns', [{ id: 'c', name: 'C', userId: 'owner' }])
    const rows = [
      event('e1', { campaignId: 'c' }),
      event('e2', { campaignId: 'unknown' }),
      event('e3', { userId: 'given' }),
    ]
    await importContent(stores, account, 'pixel-events', rows, { nowMs: Date.UTC(2026, 4, 5) })
    expect(await stored('id, user_id, toString(received_at) AS at', 'pixel_events', 'ORDER BY id')).toEqual([
      { id: 'e1', user_id: 'owner', at: '2026-05-05 00:00:00.000' },
      { id: 'e2', user_id: account, at: '2026-05-05 00:00:00.000' },
      { id: 'e3', user_id: 'given', at: '2026-05-05 00:00:00.000' },
    ])
  })
})

describe('metadata', () => {
  const rowsIn = async (table: string) => {
    const { postgres } = stores
    return await postgres`SELECT * FROM ${postgres(table)} WHERE account_id = ${account} ORDER BY id`
  }

  it('is upserted by id: updatedAt changes only with another field, createdAt never', async () => {
    const [t1, t2, t3] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 3)]
    const send = (nowMs: number, ...rows: object[]) => importContent(stores, account, 'campaigns', rows, { nowMs })
    const dates = async () =>
      (await rowsIn('campaigns')).map((row) => [row.name, row.created_at.getTime(), row.updated_at.getTime()])
    expect(await send(t1, { id: 'a', name: 'A' }, { id: 'b', name: 'B' })).toMatchObject(counts(2, 2, 0, 0, 0))
    expect(await send(t2, { id: 'a', name: 'A' }, { id: 'b', name: 'B2' })).toMatchObject(counts(2, 0, 1, 1, 0))
    expect(await dates()).toEqual([
      ['A', t1, t1],
      ['B2', t1, t2],
    ])
    const given = { id: 'a', name: 'A', createdAt: new Date(t2).toISOString(), updatedAt: new Date(t2).toISOString() }
    expect(await send(t3, given)).toMatchObject(counts(1, 0, 1, 0, 0))
    expect(await send(t3, { id: 'a', name: 'A' })).toMatchObject(counts(1, 0, 0, 1, 0))
    expect((await dates())[0]).toEqual(['A', t2, t2])
  })

  it('is not stored by a writer that lost its lease', async () => {
    const writer = await openWriter(stores, account, { onMessage: () => {}, signal: new AbortController().signal })
    const row = {
      account_id: account,
      id: 'o',
      name: 'new',
      status: 'active',
      tags: [],
      created_at: null,
      updated_at: null,
    }
    await storeMetadata(writer, 'landing_pages', [row], 0)
    const stale = { ...row, name: 'stale' }
    await stores.postgres`UPDATE leases SET fence = fence + 1 WHERE name = ${writer.lease.name}`
    await expect(storeMetadata(writer, 'landing_pages', [stale], 0)).rejects.toThrow(LeaseLost)
    await expect(storeMetadata(writer, 'landing_pages', [{ ...stale, id: 'p' }], 0)).rejects.toThrow(LeaseLost)
    await writer.close()
    expect(await stores.postgres`SELECT id, name FROM landing_pages WHERE account_id = ${account}`).toEqual([
      { id: 'o', name: 'new' },
    ])
  })

  it('with one id twice in a file: the last row wins, and a second import changes nothing', async () => {
    const rows = [
      { id: 'a', name: 'first' },
      { id: 'a', name: 'second' },
    ]
    expect(await importContent(stores, account, 'offers', rows)).toMatchObject(counts(2, 1, 0, 1, 0))
    const before = await rowsIn('offers')
    expect(await importContent(stores, account, 'offers', rows, { nowMs: Date.now() })).toMatchObject(
      counts(2, 0, 0, 2, 0),
    )
    expect(await rowsIn('offers')).toEqual(before)
    expect(before).toMatchObject([{ name: 'second' }])
  })
})
