import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { storeClicks, storeConversions } from '../../kit/rows.ts'

const api = useTestApp()

const dayMs = 86_400_000
const instantOf = (ms: number) => new Date(ms).toISOString().slice(0, 23).replace('T', ' ')

/** Reads all pages. @returns id, city and number of conversions of each click */
const readRows = async (query: string, limit: number, key: string): Promise<unknown[][]> =>
  (await readPages(api, `/clicks?${query}&limit=${limit}`, key, ClickPage)).map(({ id, city, conversionCount }) => [
    ...[id, city, conversionCount],
  ])

describe('pages of clicks', () => {
  it('have the rows and counts of a plain model, on every side of a day and with copies, bots and test conversions', async () => {
    const click = fc.record({
      // Ties, and both sides of the first day, in which rows are read with their keys, and of 32 days.
      daysAgo: fc.constantFrom(0, 0.25, 0.25, 0.9, 1, 1.01, 3, 31, 33, 400),
      is_bot: fc.boolean(),
      copies: fc.integer({ min: 1, max: 3 }),
      conversions: fc.array(fc.boolean(), { maxLength: 2 }),
    })
    let runs = 0
    await fc.assert(
      fc.asyncProperty(fc.array(click, { maxLength: 24 }), fc.integer({ min: 1, max: 8 }), async (clicks, limit) => {
        const account = `pages-${runs++}`
        const key = await api.account(account)
        const stored = clicks.map(({ daysAgo, is_bot }, n) => ({
          ...{ id: `c${n}`, clicked_at: instantOf(testNowMs - daysAgo * dayMs), is_bot, city: `city ${n}` },
        }))
        for (const copy of [1, 2, 3]) {
          const rows = stored.filter((_, n) => (clicks[n]?.copies ?? 0) >= copy)
          if (rows.length > 0) await storeClicks(api.stores, account, rows)
        }
        const conversions = clicks.flatMap((one, n) =>
          one.conversions.map((is_test, index) => ({
            ...{ id: `v${n}-${index}`, converted_at: instantOf(testNowMs), is_test },
            ...{ click_id: `c${n}`, click_at: stored[n]?.clicked_at ?? '' },
          })),
        )
        if (conversions.length > 0) await storeConversions(api.stores, account, conversions)
        const expected = stored
          .map((row, n) => ({ ...row, count: clicks[n]?.conversions.filter((isTest) => !isTest).length ?? 0 }))
          .sort((a, b) => (`${a.clicked_at} ${a.id}` < `${b.clicked_at} ${b.id}` ? 1 : -1))
        for (const [query, isListed] of [
          ['', () => true],
          ['is_bot=false', (row) => !row.is_bot],
          ['converted=false', (row) => row.count === 0],
          ['converted=true', (row) => row.count > 0],
        ] as [string, (row: (typeof expected)[number]) => boolean][]) {
          const rows = expected.filter(isListed).map(({ id, city, count }) => [id, city, count])
          expect([query, await readRows(query, limit, key)]).toEqual([query, rows])
          const ascending = await readRows(`${query}&order=asc`, limit, key)
          expect([query, ascending]).toEqual([query, rows.toReversed()])
        }
      }),
      { numRuns: randomCases(7) },
    )
  })

  it.each([0, 3])('are complete when most clicks %s days ago are not listed', async (daysAgo) => {
    const account = `sparse-${daysAgo}`
    const key = await api.account(account)
    // More conversions than a page counts beside its rows.
    const stored = Array.from({ length: 300 }, (_, n) => ({
      ...{ id: `c${n}`, clicked_at: instantOf(testNowMs - daysAgo * dayMs - n) },
      ...{ is_bot: n % 60 !== 7, city: `city ${n}` },
    }))
    await storeClicks(api.stores, account, stored)
    await storeConversions(
      api.stores,
      account,
      stored.map(({ id, clicked_at }, n) => ({
        ...{ id: `v${n}`, converted_at: clicked_at, click_id: id, click_at: clicked_at, is_test: n % 60 !== 7 },
      })),
    )
    const expected = [7, 67, 127, 187, 247].map((n) => [`c${n}`, `city ${n}`, 1])
    for (const query of ['is_bot=false', 'converted=true', 'is_bot=false&converted=true']) {
      for (const limit of [3, 200]) expect(await readRows(query, limit, key)).toEqual(expected)
    }
    const all = await readRows('', 50, key)
    expect(all.map(([id]) => id)).toEqual(stored.map(({ id }) => id))
  })

  it('read the conversion counts of their own clicks only, also if all clicks have one time', async () => {
    const key = await api.account('tied')
    const clicked_at = instantOf(testNowMs - dayMs)
    const ids = Array.from({ length: 60 }, (_, n) => `c${n + 100}`).toReversed()
    await storeClicks(
      api.stores,
      'tied',
      ids.map((id) => ({ id, clicked_at, city: 'Rome' })),
    )
    await storeConversions(
      api.stores,
      'tied',
      ids.map((id) => ({ id: `v-${id}`, converted_at: clicked_at, click_id: id, click_at: clicked_at })),
    )
    expect(await readRows('', 7, key)).toEqual(ids.map((id) => [id, 'Rome', 1]))
  })
})
