import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Conversion, ConversionPage, conversionStatuses } from '../../../schema/conversion.ts'
import { latestVersions } from '../../../src/query/latestVersions.ts'
import { readNext } from '../../../src/query/list.ts'
import type { PageKey } from '../../../src/query/pagination.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { type StoredRow, stopMerges, storeConversions } from '../../kit/rows.ts'

const api = useTestApp()

/** The first two are in the other stretches of time that a page reads on its own. */
const at = (minute: number) => `${['2026-09-20', '2026-11-08'][minute] ?? '2026-11-20'} 10:0${minute}:00.000`

const readRows = (query: string, limit: number, from: string): Promise<Conversion[]> =>
  readPages(api, `/conversions?${query}&limit=${limit}`, from, ConversionPage)
const readAll = async (query: string, limit: number, from: string): Promise<string[]> =>
  (await readRows(query, limit, from)).map(({ id }) => id)

describe('GET /conversions', () => {
  it('matches a plain model after random histories of versions and moves, with random filters', async () => {
    const version = fc.record({
      id: fc.integer({ min: 0, max: 12 }),
      minute: fc.integer({ min: 0, max: 5 }),
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
        from: fc.constantFrom('2026-11-20T10:03:00Z', '2026-11-21'),
        to: fc.constantFrom('2026-11-20T10:05:00Z', '2026-11-20'),
      },
      { requiredKeys: [] },
    )
    const several = fc.array(filters, { minLength: 2, maxLength: 2 })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(batches, several, fc.integer({ min: 1, max: 9 }), async (history, given, limit) => {
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
        for (const filter of [{} as (typeof given)[number], ...given]) {
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
                (filter.from === undefined || (filter.from.length > 10 && state.minute >= 3)) &&
                (filter.to === undefined || filter.to.length === 10 || state.minute < 5),
            )
            .map(({ id, minute }) => ({ id: `v${id}`, minute }))
            .sort((a, b) => b.minute - a.minute || (a.id < b.id ? 1 : -1))
          const isBackwards = filter.from === '2026-11-21' && filter.to !== undefined
          if (isBackwards) expect((await api.get(`/conversions?${query}`, reader)).statusCode).toBe(400)
          else {
            expect(await readAll(`${query}`, limit, reader)).toEqual(expected.map(({ id }) => id))
            expect(await readAll(`${query}&order=asc`, limit, reader)).toEqual(
              expected.map(({ id }) => id).toReversed(),
            )
          }
        }
        const [newest, oldest] = [
          await readRows('include_test_mode=true', limit, reader),
          await readRows('include_test_mode=true&order=asc', limit, reader),
        ]
        expect(newest.map(({ id }) => id).toSorted()).toEqual([...latest.keys()].map((id) => `v${id}`).toSorted())
        expect(JSON.stringify(newest)).toBe(JSON.stringify(oldest.toReversed()))
      }),
      { numRuns: randomCases(1) },
    )
  })

  it.each(['', '&order=asc'])('is complete beyond the days in which all versions are collapsed%s', async (order) => {
    const account = `deep${order && '-asc'}`
    const deep = await api.account(account)
    // Three a day: 2 and 34 days have 6 and 102 of them.
    const query = `
      INSERT INTO conversions (account_id, converted_at, id, version, source, event_name, click_id, status)
      SELECT '${account}', toDateTime64('2026-11-20 00:00:00', 3, 'UTC') - 28800 * number, concat('v', leftPad(toString(number), 5, '0')), 1, 'cpa', 'sale', 'c',
        multiIf(number % 3 = 1, 'hold', number IN (3, 180), 'refunded', number = 183, 'pending', number = 6, 'declined', 'approved')
      FROM numbers(200)`
    await api.stores.clickhouse.client.command({ query })
    const inOrder = (numbers: number[]) => {
      const ids = numbers.map((number) => `v${String(number).padStart(5, '0')}`)
      return order ? ids.toReversed() : ids
    }
    const hold = Array.from({ length: 67 }, (_, n) => 3 * n + 1)
    for (const limit of [2, 20, 50]) expect(await readAll(`status=hold${order}`, limit, deep)).toEqual(inOrder(hold))
    const from = '&from=2026-10-31'
    expect(await readAll(`status=hold${from}${order}`, 20, deep)).toEqual(inOrder(hold.slice(0, 20)))
    expect(await readAll(`status=refunded${order}`, 1, deep)).toEqual(inOrder([3, 180]))
    expect(await readAll(`status=pending${order}`, 1, deep)).toEqual(inOrder([183]))
    expect(await readAll(`status=declined${order}`, 1, deep)).toEqual(inOrder([6]))
    const all = Array.from({ length: 200 }, (_, n) => n)
    for (const limit of [9, 60]) expect(await readAll(order.slice(1), limit, deep)).toEqual(inOrder(all))
  })
})

describe('GET /conversions before old versions are merged', () => {
  beforeAll(() => stopMerges(api.stores, 'conversions'))

  it('finds the matching conversions when most candidates have a newer version', async () => {
    const churned = await api.account('churned')
    const row = (n: number): StoredRow => ({ id: `v${n}`, converted_at: `2026-11-10 10:00:00.${100 + n}` })
    const numbers = Array.from({ length: 300 }, (_, n) => n)
    const pending = numbers.map((n) => ({ ...row(n), status: 'pending' }))
    await storeConversions(api.stores, 'churned', pending)
    const left = [7, 8, 150, 299]
    const approved = numbers
      .filter((n) => !left.includes(n))
      .map((n) => ({ ...row(n), status: 'approved', version: 2 }))
    await storeConversions(api.stores, 'churned', approved)
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
        id: `${1000 + from + n}`,
        converted_at: '2026-11-20 10:00:00.000',
        status: 'pending',
        ...more,
      }))
    // The newest hundred were approved since.
    await storeConversions(api.stores, 'changing', rows(0, 110, {}))
    await storeConversions(api.stores, 'changing', rows(10, 110, { status: 'approved', version: 2 }))
    const query = {
      table: 'conversions' as const,
      accountId: 'changing',
      range: {},
      isOldestFirst: false,
      versionConditions: [ch`status = 'pending'`],
    }
    const readAt = async (keys: PageKey[]) => keys.filter(({ id }) => Number(id) < 1010 && id !== '1008')
    const context = { stores: api.stores, signal: new AbortController().signal }
    const { rows: found } = await readNext([latestVersions(context, query, { label: 'test' }, readAt)], undefined, 3)
    expect(found.map(({ id }) => id)).toEqual(['1009', '1007', '1006'])
  })
})
