import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { testNowMs, useTestApp } from '../../kit/app.ts'
import { randomCases } from '../../kit/randomCases.ts'
import { readPages } from '../../kit/readRows.ts'
import { type StoredRow, storeClicks, storeConversions } from '../../kit/rows.ts'
import { addDays, dateOf, instantOf as instantOfLocal, startOfDate } from '../../properties/reports/localTime.ts'

const api = useTestApp()

const dayMs = 86_400_000
const instantOf = (ms: number) => new Date(ms).toISOString().slice(0, 23).replace('T', ' ')

/** Reads all pages, each a day later than the one before. @returns id, city and number of conversions of each click */
async function readRows(query: string, limit: number, key: string): Promise<unknown[][]> {
  let nowMs = testNowMs
  const daily: typeof api = {
    ...api,
    read(...words) {
      api.setNow(nowMs)
      nowMs += dayMs
      return api.read(...words)
    },
  }
  const rows = await readPages(daily, `/clicks?${query}&limit=${limit}`, key, ClickPage)
  api.setNow(testNowMs)
  return rows.map(({ id, city, conversionCount }) => [id, city, conversionCount])
}

const click = fc.record({
  // Ties, both sides of the first day, in which rows are read with their keys, and each stretch of time that is read on its own.
  daysAgo: fc.constantFrom(0, 0.25, 0.25, 0.9, 1, 1.01, 3, 20, 31, 33, 40, 400, 2000),
  is_bot: fc.boolean(),
  campaign_id: fc.constantFrom('k1', 'k2'),
  offer_id: fc.constantFrom('o1', 'o2'),
  copies: fc.integer({ min: 1, max: 3 }),
})
/** A state of a conversion: later ones of an id replace it, also with another click. */
const state = fc.record({
  id: fc.integer({ min: 0, max: 12 }),
  click: fc.nat(23),
  is_test: fc.boolean(),
  status: fc.constantFrom('approved', 'declined'),
})
type Click = typeof click extends fc.Arbitrary<infer T> ? T : never
type State = typeof state extends fc.Arbitrary<infer T> ? T : never

const queries = ['', 'is_bot=false', 'campaign_id=k2&offer_id=o1'].flatMap((filter) =>
  ['', '&converted=true', '&converted=false'].map((converted) => filter + converted),
)

/** A range in a time zone: the text of its parameters, and its limits. */
const window = fc
  .record({
    tz: fc.constantFrom('UTC', 'Asia/Kathmandu', 'America/New_York', 'Pacific/Auckland'),
    days: fc.constantFrom(1, 2, 4, 33, 365),
    kind: fc.constantFrom('all', 'days', 'days', 'from', 'to'),
  })
  .map(({ tz, days, kind }) => {
    const today = dateOf(testNowMs, tz)
    const first = addDays(today, 1 - days)
    const tomorrowMs = startOfDate(addDays(today, 1), tz)
    const all = { text: `tz=${tz}`, fromMs: 0, untilMs: Number.POSITIVE_INFINITY }
    if (kind === 'days') return { text: `days=${days}&tz=${tz}`, fromMs: startOfDate(first, tz), untilMs: tomorrowMs }
    const atMs = instantOfLocal(Date.parse(`${first}T06:30:00Z`), tz).epochMs
    // A range that has a start is no range of days.
    if (kind === 'from') return { ...all, text: `days=1&from=${first}%2006:30:00&tz=${tz}`, fromMs: atMs }
    return kind === 'to' ? { ...all, text: `to=${first}T06:30&tz=${tz}`, untilMs: atMs } : all
  })

/** Stores clicks with their copies, and conversions as an import does. @returns the clicks, newest first, with their counts */
async function store(account: string, clicks: Click[], history: State[][]) {
  const rows = clicks.map(({ daysAgo, copies: _, ...fields }, n) => ({
    id: `c${n}`,
    clicked_at: instantOf(testNowMs - daysAgo * dayMs),
    city: `city ${n}`,
    ...fields,
  }))
  const timeOf = ({ clicked_at }: { clicked_at: string }) => Date.parse(`${clicked_at.replace(' ', 'T')}Z`)
  for (const copy of [1, 2, 3]) {
    const copied = rows.filter((_, n) => (clicks[n]?.copies ?? 0) >= copy)
    if (copied.length > 0) await storeClicks(api.stores, account, copied)
  }
  const latest = new Map<number, State>()
  let version = 0
  for (const batch of history) {
    const conversions = batch.flatMap((given): StoredRow[] => {
      const { id, is_test, status } = given
      const before = latest.get(id)
      const present = given.click % rows.length
      version += 1
      const rowOf = (index: number) => {
        const { id: click_id = '', clicked_at = '', campaign_id = '', offer_id = '' } = rows[index] ?? {}
        return {
          id: `v${id}`,
          converted_at: '2026-11-20 00:00:00.000',
          version,
          is_test,
          status,
          click_id,
          click_at: clicked_at,
          click_campaign_id: campaign_id,
          click_offer_id: offer_id,
        }
      }
      latest.set(id, { ...given, click: present })
      const isMoved = before !== undefined && before.click !== present
      return [...(isMoved ? [{ ...rowOf(before.click), is_deleted: 1 }] : []), rowOf(present)]
    })
    await storeConversions(api.stores, account, conversions)
  }
  const counted = [...latest.values()].filter((one) => !one.is_test).map((one) => one.click)
  return rows
    .map((row, n) => ({ ...row, atMs: timeOf(row), count: counted.filter((index) => index === n).length }))
    .sort((a, b) => (`${a.clicked_at} ${a.id}` < `${b.clicked_at} ${b.id}` ? 1 : -1))
}

describe('pages of clicks', () => {
  it('have the rows and counts of a plain model after random histories, on every side of a day and with copies', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(click, { minLength: 1, maxLength: 24, size: 'max' }),
        fc.array(fc.array(state, { minLength: 1, maxLength: 10 }), { maxLength: 4 }),
        fc.subarray(queries, { minLength: 4, maxLength: 4 }),
        fc.array(window, { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 2, max: 9 }),
        async (clicks, history, asked, windows, limit) => {
          const account = `pages-${runs++}`
          const key = await api.account(account)
          const stored = await store(account, clicks, history)
          for (const [n, filters] of asked.entries()) {
            const { text, fromMs, untilMs } = windows[n] ?? { text: '', fromMs: 0, untilMs: 0 }
            const query = `${filters}&${text}`
            const given = new URLSearchParams(query)
            const listed = stored.filter(
              ({ is_bot, campaign_id, offer_id, count, atMs }) =>
                atMs >= fromMs &&
                atMs < untilMs &&
                [null, `${is_bot}`].includes(given.get('is_bot')) &&
                [null, `${campaign_id}`].includes(given.get('campaign_id')) &&
                [null, `${offer_id}`].includes(given.get('offer_id')) &&
                [null, `${count > 0}`].includes(given.get('converted')),
            )
            const rows = listed.map(({ id, city, count }) => [id, city, count])
            expect([query, await readRows(query, limit, key)]).toEqual([query, rows])
            const ascending = await readRows(`${query}&order=asc`, limit, key)
            expect([query, ascending]).toEqual([query, rows.toReversed()])
          }
        },
      ),
      { numRuns: randomCases(1) },
    )
  })

  it.each([0, 3])('are complete when most clicks %s days ago are not listed', async (daysAgo) => {
    const account = `sparse-${daysAgo}`
    const key = await api.account(account)
    // More conversions than a page counts beside its rows.
    const stored = Array.from({ length: 300 }, (_, n) => ({
      id: `c${n}`,
      clicked_at: instantOf(testNowMs - daysAgo * dayMs - n),
      is_bot: n % 60 !== 7,
      city: `city ${n}`,
    }))
    await storeClicks(api.stores, account, stored)
    const conversions = stored.map(({ id, clicked_at }, n) => ({
      id: `v${n}`,
      converted_at: clicked_at,
      click_id: id,
      click_at: clicked_at,
      is_test: n % 60 !== 7,
    }))
    await storeConversions(api.stores, account, conversions)
    const expected = [7, 67, 127, 187, 247].map((n) => [`c${n}`, `city ${n}`, 1])
    for (const query of ['is_bot=false', 'converted=true', 'is_bot=false&converted=true']) {
      for (const limit of [3, 200]) expect(await readRows(query, limit, key)).toEqual(expected)
    }
    const all = await readRows('', 50, key)
    expect(all.map(([id]) => id)).toEqual(stored.map(({ id }) => id))
  })

  it('have each click once, however many copies of it are not merged', async () => {
    const key = await api.account('copied')
    const ids = ['a', ...Array.from({ length: 40 }, () => 'b'), 'c']
    await api.stores.clickhouse.client.insert({
      table: 'clicks',
      format: 'JSONEachRow',
      values: ids.map((id) => ({ account_id: 'copied', id, clicked_at: '2026-11-01 10:00:00.000', city: id })),
      clickhouse_settings: { optimize_on_insert: 0 },
    })
    const rows = ['a', 'b', 'c'].map((id) => [id, id, 0])
    for (const limit of [1, 2, 3, 200]) {
      expect(await readRows('order=asc', limit, key)).toEqual(rows)
      expect(await readRows('', limit, key)).toEqual(rows.toReversed())
    }
  })

  it('of converted clicks are the same with and without a copy of the click', async () => {
    const key = await api.account('copies')
    const at = '2026-11-01 10:00:00.000'
    const ids = ['b', 'a']
    const rows = ids.map((id) => ({ id, clicked_at: at, city: id }))
    await storeClicks(api.stores, 'copies', rows)
    const ofClick = (id: string) => ({ id, converted_at: at, click_id: id, click_at: at })
    await storeConversions(api.stores, 'copies', ids.map(ofClick))
    const read = () => readRows('converted=true', 5, key)
    const expected = ids.map((id) => [id, id, 1])
    expect(await read()).toEqual(expected)
    for (const copied of ['a', 'a', 'b']) {
      const query = `INSERT INTO converted_click_rows SELECT * FROM clicks WHERE account_id = 'copies' AND id = '${copied}'`
      await api.stores.clickhouse.client.command({ query })
      expect(await read()).toEqual(expected)
    }
  })

  it('of converted clicks contain clicks with more conversions than a page reads at once', async () => {
    const key = await api.account('many')
    const clicked_at = '2026-11-20 10:00:00.000'
    const ids = ['d', 'c', 'b', 'a']
    const clicks = ids.map((id) => ({ id, clicked_at, city: 'Rome' }))
    await storeClicks(api.stores, 'many', clicks)
    const conversions = ids.flatMap((id) =>
      Array.from({ length: id === 'a' ? 1 : 20 }, (_, n) => ({
        id: `${id}-${n}`,
        converted_at: clicked_at,
        click_id: id,
        click_at: clicked_at,
        is_test: id === 'b',
      })),
    )
    await storeConversions(api.stores, 'many', conversions)
    for (const limit of [1, 200]) {
      expect(await readRows('converted=true', limit, key)).toEqual([
        ['d', 'Rome', 20],
        ['c', 'Rome', 20],
        ['a', 'Rome', 1],
      ])
    }
  })

  it('continue exactly after the last row while rows are stored before and after it', async () => {
    const key = await api.account('growing')
    const clickOf = (day: number) => ({ id: `day-${day}`, clicked_at: `2026-09-${day} 00:00:00.000` })
    await storeClicks(api.stores, 'growing', [10, 11, 12, 13, 14].map(clickOf))
    const first = await api.read('/clicks?limit=2', key, ClickPage)
    await storeClicks(api.stores, 'growing', [{ id: 'late', clicked_at: '2026-09-13 12:00:00.000' }, clickOf(15)])
    const rest = await api.read(`/clicks?cursor=${first.nextCursor}`, key, ClickPage)
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual([14, 13, 12, 11, 10].map((day) => `day-${day}`))
  })
})
