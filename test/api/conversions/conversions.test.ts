import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Conversion, ConversionPage, conversionStatuses } from '../../../schema/conversion.ts'
import { findLatestVersions } from '../../../src/query/latestVersions.ts'
import type { PageKey } from '../../../src/query/pagination.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { type StoredRow, startMerges, stopMerges, storeConversions, storeMetadata } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await api.account('other')
  const at = '2026-11-20 10:00:00.000'
  await storeConversions(api.stores, 'acme', [
    ...Array.from({ length: 30 }, (_, n) => ({
      ...{ id: `tie-${n}`, converted_at: at, campaign_id: n % 2 === 0 ? 'k1' : 'k2' },
      ...{ source: n % 3 === 0 ? 'revenue' : 'cpa', status: n % 5 === 0 ? 'pending' : 'approved' },
    })),
    { id: 'test', converted_at: '2026-11-21 00:00:00.000', is_test: true },
  ])
  // Later states, in parts of their own: two pending ones were approved, one approved one was refunded, one became a test.
  await storeConversions(api.stores, 'acme', [
    { id: 'tie-0', converted_at: at, campaign_id: 'k1', source: 'revenue', status: 'approved', version: 2 },
    { id: 'tie-5', converted_at: at, campaign_id: 'k2', status: 'approved', version: 2 },
    { id: 'tie-1', converted_at: at, campaign_id: 'k2', status: 'refunded', version: 2 },
    { id: 'tie-2', converted_at: at, campaign_id: 'k1', is_test: true, version: 2 },
  ])
  // One was corrected in time: its old sort key is marked as deleted.
  await storeConversions(api.stores, 'acme', [
    { id: 'tie-4', converted_at: at, campaign_id: 'k1', version: 3, is_deleted: 1 },
    { id: 'tie-4', converted_at: '2026-11-19 10:00:00.000', campaign_id: 'k1', version: 3 },
  ])
  await storeConversions(api.stores, 'other', [{ id: 'tie-1', converted_at: at, campaign_id: 'k1' }])
})

const page = (query: string, from = key) => api.read(`/conversions?${query}`, from, ConversionPage)

const readRows = (query: string, limit: number, from = key): Promise<Conversion[]> =>
  readPages(api, `/conversions?${query}&limit=${limit}`, from, ConversionPage)
const readAll = async (query: string, limit: number, from = key): Promise<string[]> =>
  (await readRows(query, limit, from)).map(({ id }) => id)

describe('GET /conversions', () => {
  it('lists each conversion exactly once, newest first, at any page size, including ties and several versions', async () => {
    const all = await readAll('', 200)
    const tied = Array.from({ length: 30 }, (_, n) => `tie-${n}`).filter((id) => id !== 'tie-2' && id !== 'tie-4')
    expect(all).toEqual([...tied.sort().reverse(), 'tie-4'])
    for (const limit of [7, 28]) expect(await readAll('', limit)).toEqual(all)
  })

  it('lists a conversion by its latest status only', async () => {
    expect(await readAll('status=pending', 2)).toEqual(['tie-25', 'tie-20', 'tie-15', 'tie-10'])
    expect(await readAll('status=refunded', 1)).toEqual(['tie-1'])
    expect((await readAll('status=approved', 3)).length).toBe(24)
    expect((await readAll('status=refunded,pending', 3)).length).toBe(5)
    expect(await readAll('status=hold', 3)).toEqual([])
  })

  it('lists test conversions only with include_test_mode', async () => {
    expect((await page('include_test_mode=true&limit=1')).data).toMatchObject([{ id: 'test', isTest: true }])
  })

  it('treats a status list in any order as the same filter', async () => {
    const { nextCursor } = await page('status=pending,approved&limit=2')
    expect((await page(`status=approved,pending&limit=2&cursor=${nextCursor}`)).data).toHaveLength(2)
  })

  it('returns every field', async () => {
    const full = await api.account('full', { currency: 'EUR' })
    await storeMetadata(api.stores, 'campaigns', 'full', [{ id: 'k1', name: 'Spring' }])
    await storeMetadata(api.stores, 'offers', 'other', [{ id: 'o1', name: 'theirs' }])
    await storeConversions(api.stores, 'full', [
      {
        ...{ id: 'v1', source: 'revenue', status: 'hold', external_status: 'On-Hold', event_name: 'purchase' },
        ...{ converted_at: '2026-11-20 10:00:00.001', clicked_at: '2026-11-19 09:00:00.002' },
        ...{ created_at: '2026-11-20 10:00:00.003', updated_at: '2026-11-20 10:00:00.004' },
        stored_at: '2026-11-21 10:00:00.005',
        ...{ click_id: 'c1', visitor_id: 'w1', transaction_id: 't1', campaign_id: 'k1', offer_id: 'o1' },
        ...{ country: 'DE', device: 'mobile', os: 'iOS', browser: 'Safari', sub1: 'a', sub10: 'j' },
        ...{ payout: '1.5', revenue: '2.25', currency: 'USD', revenue_base: '2.000001', coupon_code: 'SAVE' },
      },
      { id: 'bare', converted_at: '2026-11-20 10:00:00.000' },
    ])
    const { data } = await page('', full)
    expect(data).toEqual([
      {
        ...{ id: 'v1', source: 'revenue', status: 'hold', externalStatus: 'On-Hold', eventName: 'purchase' },
        ...{ convertedAt: '2026-11-20T10:00:00.001Z', clickedAt: '2026-11-19T09:00:00.002Z' },
        ...{ createdAt: '2026-11-20T10:00:00.003Z', updatedAt: '2026-11-20T10:00:00.004Z' },
        ...{ clickId: 'c1', visitorId: 'w1', transactionId: 't1', campaignId: 'k1', campaignName: 'Spring' },
        ...{ offerId: 'o1', offerName: null, landingPageId: null, landingPageName: null },
        ...{ trafficSourceId: null, trafficSourceName: null },
        ...{ country: 'DE', device: 'mobile', os: 'iOS', browser: 'Safari' },
        subIds: {
          ...{ sub1: 'a', sub2: null, sub3: null, sub4: null, sub5: null },
          ...{ sub6: null, sub7: null, sub8: null, sub9: null, sub10: 'j' },
        },
        ...{ payout: 1.5, revenue: 2.25, currency: 'USD', revenueBase: 2.000001, baseCurrency: 'EUR' },
        ...{ couponCode: 'SAVE', isTest: false, storedAt: '2026-11-21T10:00:00.005Z' },
      },
      expect.objectContaining({
        ...{ id: 'bare', clickedAt: null, clickId: null, externalStatus: null, country: null, device: null },
        ...{ payout: null, revenue: null, revenueBase: null, currency: null, couponCode: null },
      }),
    ])
  })

  it('matches a plain model after random histories of versions and moves, with random filters', async () => {
    const version = fc.record({
      id: fc.integer({ min: 0, max: 12 }),
      minute: fc.integer({ min: 0, max: 3 }),
      status: fc.constantFrom(...conversionStatuses.slice(0, 3)),
      source: fc.constantFrom('cpa', 'revenue'),
      campaign: fc.constantFrom('k1', 'k2'),
      is_test: fc.boolean(),
    })
    const batches = fc.array(fc.array(version, { minLength: 1, maxLength: 15 }), { minLength: 1, maxLength: 4 })
    const filters = fc.record(
      {
        status: fc.subarray(conversionStatuses.slice(0, 4), { minLength: 1 }),
        source: fc.constantFrom('cpa', 'revenue', 'all'),
        campaign_id: fc.constantFrom('k1', 'k2'),
        include_test_mode: fc.boolean(),
        from: fc.constantFrom('2026-11-20T10:01:00Z', '2026-11-21'),
        to: fc.constantFrom('2026-11-20T10:03:00Z', '2026-11-20'),
      },
      { requiredKeys: [] },
    )
    let runs = 0
    const at = (minute: number) => `2026-11-20 10:0${minute}:00.000`
    await fc.assert(
      fc.asyncProperty(batches, filters, fc.integer({ min: 1, max: 9 }), async (history, filter, limit) => {
        const account = `model-${runs++}`
        const reader = await api.account(account)
        const latest = new Map<number, (typeof history)[number][number]>()
        let writes = 0
        for (const batch of history) {
          const rows: StoredRow[] = []
          for (const state of batch) {
            const { id, minute, campaign, ...rest } = state
            writes += 1
            const before = latest.get(id)
            const row = (of: number) => ({ id: `v${id}`, converted_at: at(of), campaign_id: campaign, version: writes })
            if (before && before.minute !== minute) rows.push({ ...row(before.minute), ...rest, is_deleted: 1 })
            rows.push({ ...row(minute), ...rest })
            latest.set(id, state)
          }
          await storeConversions(api.stores, account, rows)
        }
        const query = new URLSearchParams(
          Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
        )
        const expected = [...latest.values()]
          .filter(
            (state) =>
              (filter.status ?? [state.status]).includes(state.status) &&
              [undefined, 'all', state.source].includes(filter.source) &&
              [undefined, state.campaign].includes(filter.campaign_id) &&
              (filter.include_test_mode === true || !state.is_test) &&
              (filter.from === undefined || (filter.from.length > 10 && state.minute >= 1)) &&
              (filter.to === undefined || filter.to.length === 10 || state.minute < 3),
          )
          .map(({ id, minute }) => ({ id: `v${id}`, minute }))
          .sort((a, b) => b.minute - a.minute || (a.id < b.id ? 1 : -1))
        const isBackwards = filter.from === '2026-11-21' && filter.to !== undefined
        if (isBackwards) expect((await api.get(`/conversions?${query}`, reader)).statusCode).toBe(400)
        else expect(await readAll(`${query}`, limit, reader)).toEqual(expected.map(({ id }) => id))
        const [newest, oldest] = [
          await readRows('include_test_mode=true', limit, reader),
          await readRows('include_test_mode=true&order=asc', limit, reader),
        ]
        expect(newest.map(({ id }) => id).toSorted()).toEqual([...latest.keys()].map((id) => `v${id}`).toSorted())
        expect(JSON.stringify(newest)).toBe(JSON.stringify(oldest.toReversed()))
      }),
      { numRuns: randomCases(6) },
    )
  })
})

describe('GET /conversions before old versions are merged', () => {
  beforeAll(() => stopMerges(api.stores, 'conversions'))
  afterAll(() => startMerges(api.stores, 'conversions'))

  it('finds the matching conversions when most candidates have a newer version', async () => {
    const churned = await api.account('churned')
    const row = (n: number): StoredRow => ({ id: `v${n}`, converted_at: `2026-11-10 10:00:00.${100 + n}` })
    const numbers = Array.from({ length: 300 }, (_, n) => n)
    await storeConversions(
      api.stores,
      'churned',
      numbers.map((n) => ({ ...row(n), status: 'pending' })),
    )
    const left = [7, 8, 150, 299]
    await storeConversions(
      api.stores,
      'churned',
      numbers.filter((n) => !left.includes(n)).map((n) => ({ ...row(n), status: 'approved', version: 2 })),
    )
    expect(await readAll('status=pending', 1, churned)).toEqual(['v299', 'v150', 'v8', 'v7'])
    expect(await readAll('status=pending', 3, churned)).toEqual(['v299', 'v150', 'v8', 'v7'])
    expect(await readAll('status=approved', 50, churned)).toHaveLength(296)
    // Three versions are read for two rows: the second version of the second conversion may not be among them.
    expect(await readAll('from=2026-11-10T10:00:00.390Z', 1, churned)).toEqual(
      numbers
        .slice(290)
        .map((n) => `v${n}`)
        .toReversed(),
    )
    expect(await readAll('', 200, churned)).toEqual(numbers.map((n) => `v${n}`).toReversed())
  })

  it('does not end a list early because a row changes while its page is read', async () => {
    const rows = (from: number, until: number, more: object) =>
      Array.from({ length: until - from }, (_, n) => ({
        ...{ id: `${1000 + from + n}`, converted_at: '2026-11-20 10:00:00.000', status: 'pending' },
        ...more,
      }))
    // The newest hundred were approved since.
    await storeConversions(api.stores, 'changing', rows(0, 110, {}))
    await storeConversions(api.stores, 'changing', rows(10, 110, { status: 'approved', version: 2 }))
    const query = {
      ...{ accountId: 'changing', range: {}, isOldestFirst: false },
      versionConditions: [ch`status = 'pending'`],
    }
    const readAt = async (keys: PageKey[]) => keys.filter(({ id }) => Number(id) < 1010 && id !== '1008')
    const found = await findLatestVersions(api.stores.clickhouse, query, undefined, 3, { label: 'test' }, readAt)
    expect(found.map(({ id }) => id)).toEqual(['1009', '1007', '1006'])
  })
})
