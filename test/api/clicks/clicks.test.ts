import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { Click, ClickPage } from '../../../schema/click.ts'
import { subIdNames } from '../../../schema/subIds.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { type StoredRow, storeClicks, storeConversions } from '../../kit/rows.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await api.account('other')
  await storeClicks(api.stores, 'acme', [
    ...Array.from({ length: 41 }, (_, n) => ({
      id: `tie-${n}`,
      clicked_at: '2026-11-01 10:00:00.000',
      campaign_id: n % 2 === 0 ? 'k1' : 'k2',
      offer_id: n % 3 === 0 ? 'o1' : 'o2',
    })),
    ...Array.from({ length: 20 }, (_, n) => ({ id: `day-${n}`, clicked_at: `2026-09-${10 + n} 00:00:00.00${n % 10}` })),
    { id: 'bot', clicked_at: '2026-11-02 00:00:00.000', is_bot: true },
    {
      ...{ id: 'test', clicked_at: '2026-11-02 00:00:00.001', is_test: true, country: 'DE' },
      ...{ cost: 0.1, currency: 'USD', cost_base: 0.1 },
    },
  ])
  // The same rows once more, as a writer that ignored the protocol would have left them.
  await storeClicks(
    api.stores,
    'acme',
    Array.from({ length: 9 }, (_, n) => ({ id: `tie-${n}`, clicked_at: '2026-11-01 10:00:00.000', campaign_id: 'k1' })),
  )
  await storeClicks(api.stores, 'other', [{ id: 'tie-1', clicked_at: '2026-11-01 10:00:00.000', campaign_id: 'k1' }])
  const ofClick = (click_id: string) => ({
    ...{ click_id, click_at: '2026-11-01 10:00:00.000', converted_at: '2026-11-01 12:00:00.000' },
  })
  await storeConversions(api.stores, 'acme', [
    { ...ofClick('tie-3'), id: 'v1' },
    { ...ofClick('tie-3'), id: 'v2', status: 'declined' },
    { ...ofClick('tie-4'), id: 'v3', is_test: true },
    { ...ofClick('tie-5'), id: 'v4' },
    { ...ofClick('tie-5'), id: 'v4', is_deleted: 1, version: 2 },
  ])
})

const page = (query: string, from = key) => api.read(`/clicks?${query}`, from, ClickPage)

const readAll = async (query: string, limit: number, from = key): Promise<string[]> =>
  (await readPages(api, `/clicks?${query}&limit=${limit}`, from, ClickPage)).map(({ id }) => id)

describe('GET /clicks', () => {
  it('lists each click exactly once, newest first, at any page size, including ties and repeated rows', async () => {
    const all = await readAll('', 200)
    expect(all).toHaveLength(63)
    expect(new Set(all).size).toBe(63)
    expect(all.slice(0, 3)).toEqual(['test', 'bot', 'tie-9'])
    for (const limit of [7, 62, 63]) expect(await readAll('', limit)).toEqual(all)
  })

  it('returns every field, with null for absent ones', async () => {
    const [row] = (await page('from=2026-11-02T00:00:00.001Z')).data
    const given = {
      ...{
        id: 'test',
        clickedAt: '2026-11-02T00:00:00.001Z',
        country: 'DE',
        cost: 0.1,
        currency: 'USD',
        costBase: 0.1,
      },
      ...{ baseCurrency: 'USD', isBot: false, isTest: true, converted: false, conversionCount: 0 },
      subIds: Object.fromEntries(subIdNames.map((name) => [name, null])),
      storedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    }
    const absent = Object.fromEntries(Object.keys(Click.properties).map((name) => [name, null]))
    expect(row).toEqual({ ...absent, ...given })
  })

  it('combines filters by campaign, offer and range', async () => {
    const ids = await readAll('campaign_id=k2&offer_id=o1&from=2026-11-01&to=2026-11-01', 3)
    const expected = Array.from({ length: 41 }, (_, n) => n).filter((n) => n % 2 === 1 && n % 3 === 0)
    expect(ids.sort()).toEqual(expected.map((n) => `tie-${n}`).sort())
    expect(await readAll('campaign_id=unknown', 10)).toEqual([])
  })

  it('counts conversions of any status without tests, and filters clicks by them', async () => {
    const { data } = await page('converted=true')
    expect(data.map(({ id, conversionCount, converted }) => [id, conversionCount, converted])).toEqual([
      ['tie-3', 2, true],
    ])
    const others = await readAll('converted=false', 5)
    expect(others).toHaveLength(62)
    expect(others).not.toContain('tie-3')
  })

  it('returns converted clicks with and without a copy in the same way', async () => {
    const reader = await api.account('copies')
    const at = '2026-11-01 10:00:00.000'
    await storeClicks(
      api.stores,
      'copies',
      ['a', 'b'].map((id) => ({ id, clicked_at: at, city: id })),
    )
    const ofClick = (id: string) => ({ id, converted_at: at, click_id: id, click_at: at })
    await storeConversions(api.stores, 'copies', ['a', 'b'].map(ofClick))
    const shown = async () => (await page('converted=true', reader)).data
    const before = await shown()
    expect(before.map(({ id, city }) => [id, city])).toEqual([
      ['b', 'b'],
      ['a', 'a'],
    ])
    for (const copied of ['a', 'a', 'b']) {
      const query = `INSERT INTO converted_click_rows SELECT * FROM clicks WHERE account_id = 'copies' AND id = '${copied}'`
      await api.stores.clickhouse.client.command({ query })
      expect(await shown()).toEqual(before)
    }
  })

  it('pages through converted clicks with more conversions than a page reads at once', async () => {
    const reader = await api.account('many')
    const clicked_at = '2026-11-20 10:00:00.000'
    const ids = ['a', 'b', 'c', 'd']
    await storeClicks(
      api.stores,
      'many',
      ids.map((id) => ({ id, clicked_at })),
    )
    const conversionsOf = (id: string, total: number) =>
      Array.from({ length: total }, (_, n) => ({
        ...{ id: `${id}-${n}`, converted_at: clicked_at, click_id: id, click_at: clicked_at, is_test: id === 'b' },
      }))
    await storeConversions(api.stores, 'many', [...ids.flatMap((id) => conversionsOf(id, id === 'a' ? 1 : 20))])
    expect(await readAll('converted=true', 1, reader)).toEqual(['d', 'c', 'a'])
    const { data } = await page('converted=true', reader)
    expect(data.map(({ id, conversionCount }) => [id, conversionCount])).toEqual([
      ['d', 20],
      ['c', 20],
      ['a', 1],
    ])
  })

  it('matches a plain model of converted clicks after random histories of their conversions', async () => {
    const dayMs = 86_400_000
    const click = fc.record({
      // Today, some days, months and years back: each stretch of time that is read on its own.
      daysAgo: fc.constantFrom(0, 0.5, 3, 20, 40, 400, 2000),
      campaign_id: fc.constantFrom('k1', 'k2'),
      offer_id: fc.constantFrom('o1', 'o2'),
    })
    const state = fc.record({
      id: fc.integer({ min: 0, max: 6 }),
      click: fc.integer({ min: 0, max: 9 }),
      is_test: fc.boolean(),
    })
    const filters = fc.record(
      { converted: fc.boolean(), campaign_id: fc.constantFrom('k1', 'k2'), offer_id: fc.constantFrom('o1', 'o2') },
      { requiredKeys: ['converted'] },
    )
    let runs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(click, { minLength: 10, maxLength: 20 }),
        fc.array(fc.array(state, { minLength: 1, maxLength: 8 }), { maxLength: 4 }),
        filters,
        fc.integer({ min: 1, max: 6 }),
        async (clicks, history, filter, limit) => {
          const account = `model-${runs++}`
          const reader = await api.account(account)
          const stored = clicks.map(({ daysAgo, ...ids }, n) => ({
            id: `c${n}`,
            clicked_at: new Date(testNowMs - daysAgo * dayMs).toISOString().slice(0, 23).replace('T', ' '),
            ...ids,
          }))
          await storeClicks(api.stores, account, stored)
          const latest = new Map<number, { click: number; is_test: boolean }>()
          let version = 0
          for (const batch of history) {
            const rows: StoredRow[] = []
            for (const { id, click, is_test } of batch) {
              version += 1
              const row = (of: number) => {
                const { id: click_id = '', clicked_at = '', campaign_id = '', offer_id = '' } = stored[of] ?? {}
                return {
                  ...{ id: `v${id}`, converted_at: '2026-11-20 00:00:00.000', version, is_test },
                  ...{ click_id, click_at: clicked_at, click_campaign_id: campaign_id, click_offer_id: offer_id },
                }
              }
              const before = latest.get(id)
              if (before && before.click !== click) rows.push({ ...row(before.click), is_deleted: 1 })
              rows.push(row(click))
              latest.set(id, { click, is_test })
            }
            await storeConversions(api.stores, account, rows)
          }
          const converted = new Set([...latest.values()].filter((of) => !of.is_test).map((of) => `c${of.click}`))
          const expected = stored
            .filter(
              ({ id, campaign_id, offer_id }) =>
                converted.has(id) === filter.converted &&
                [undefined, campaign_id].includes(filter.campaign_id) &&
                [undefined, offer_id].includes(filter.offer_id),
            )
            .sort((a, b) => (`${a.clicked_at} ${a.id}` < `${b.clicked_at} ${b.id}` ? 1 : -1))
          const query = new URLSearchParams(
            Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
          )
          expect(await readAll(`${query}`, limit, reader)).toEqual(expected.map(({ id }) => id))
        },
      ),
      { numRuns: randomCases(6) },
    )
  })

  it('continues exactly after the last page while rows are stored before and after it', async () => {
    const first = await page('limit=10&from=2026-09-01&to=2026-09-30')
    await storeClicks(api.stores, 'acme', [{ id: 'late', clicked_at: '2026-09-29 23:00:00.000' }])
    const rest = await page(`limit=200&from=2026-09-01&to=2026-09-30&cursor=${first.nextCursor}`)
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, n) => `day-${19 - n}`),
    )
  })
})
