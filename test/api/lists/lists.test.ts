import { beforeAll, describe, expect, it } from 'vitest'
import { ClickPage } from '../../../schema/click.ts'
import { ConversionPage } from '../../../schema/conversion.ts'
import { notSet } from '../../../schema/dimensions.ts'
import { filterAttributes, filterNames } from '../../../schema/filters.ts'
import { ReportResponse } from '../../../schema/report.ts'
import { subIdNames } from '../../../schema/subIds.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { randomCasesFactor } from '../../kit/randomCases.ts'

const api = useTestApp()
let key: string

const numbers = Array.from({ length: 36 }, (_, n) => n)
const pick = (n: number, [first, second]: readonly [string, string]) => [first, second, undefined][n % 3]
const awkward = ['a,b', '!back\\slash'] as const

/** The fields that filters read, different in neighbouring rows. */
const attributesOf = (n: number) => ({
  campaignId: pick(n, ['k1', 'k2']),
  offerId: pick(n + 1, ['o1', 'o2']),
  landingPageId: pick(n + 2, ['l1', 'l2']),
  trafficSourceId: pick(n, ['t1', 't2']),
  country: pick(n + 1, ['DE', 'US']),
  device: pick(n + 2, ['mobile', 'desktop']),
  os: pick(n, ['iOS', 'Windows']),
  browser: pick(n + 1, ['Chrome', 'Safari']),
})
const clickAttributesOf = (n: number) => ({
  region: pick(n, ['Hesse', 'hesse']),
  city: pick(n + 1, awkward),
  language: pick(n + 2, ['de-DE,de;q=0.9', 'EN-us']),
  referrer: pick(n, ['https://www.News.example/a', 'http://blog.example:8080/b?c=1']),
  utmSource: pick(n + 1, ['google', 'bing']),
  utmMedium: pick(n + 2, ['cpc', 'email']),
  utmCampaign: pick(n, awkward),
  utmTerm: pick(n + 1, ['shoes', 'Schuhe']),
  utmContent: pick(n + 2, ['top', 'bottom']),
  subIds: Object.fromEntries(subIdNames.map((name, index) => [name, pick(n + index, [`${name}-a`, `${name}-b`])])),
})

beforeAll(async () => {
  key = await api.account('lists')
  const at = (n: number) => `2026-11-${String(1 + (n % 20)).padStart(2, '0')}T10:00:00.000Z`
  const clicks = numbers.map((n) => ({
    id: `c${n}`,
    clickedAt: at(n),
    visitorId: `visitor-${n % 4}`,
    isBot: n === 30,
    isTest: n === 31,
    ...attributesOf(n),
    ...clickAttributesOf(n),
  }))
  await importContent(api.stores, 'lists', 'clicks', clicks)
  const conversions = numbers.map((n) => ({
    id: `v${n}`,
    convertedAt: at(n),
    status: n % 5 ? 'approved' : 'pending',
    isTest: n === 33,
    eventName: n % 2 ? 'purchase' : 'lead',
    transactionId: n % 7 ? `tx,${n}` : undefined,
    // Some name a click; some have attributes of their own; some are before their click.
    ...(n % 3 === 0 ? { ...attributesOf(n + 1), visitorId: 'visitor-9' } : { clickId: `c${n}` }),
  }))
  await importContent(api.stores, 'lists', 'conversions', conversions)
})

/** Writes a value as an element of a filter list. */
const escaped = (value: string) => value.replace(/[\\,]/g, '\\$&').replace(/^!/, '\\!')
const parameter = (name: string, text: string) => `${name}=${encodeURIComponent(text)}`
const idsOf = async (path: string, schema: typeof ClickPage | typeof ConversionPage) =>
  (await api.read(path, key, schema as typeof ClickPage)).data.map(({ id }) => id)
const clicks = (query: string) => idsOf(`/clicks?limit=200&${query}`, ClickPage)
const conversions = (query: string) => idsOf(`/conversions?limit=200&${query}`, ConversionPage)
const report = (query: string) => api.read(`/reports?${query}`, key, ReportResponse)

/** In the suite, two of the ten sub ids, and every second filter by an excluded value; in test:long, all. */
const isLong = randomCasesFactor > 1
const tested = filterNames
  .filter((name) => isLong || !/^sub[2-9]$/.test(name))
  .map((name, index) => [name, index] as const)

// Filters of reports: test/properties/reports.
describe('filters of lists', () => {
  it.each(tested)('%s selects as many rows as the report counts', async (name, index) => {
    const { data, totals } = await report(`group_by=${filterAttributes[name]}`)
    expect(data.length).toBeGreaterThan(2)
    const [first, second] = data
    const unset = data.find(({ id }) => id === notSet)
    const cases = [
      [first, false],
      [second, true],
      [unset, false],
    ] as const
    for (const [row, isExcluded] of cases.filter((_case, n) => isLong || n !== index % 2)) {
      const { id = '', clicks: clickCount = 0, conversions: conversionCount = 0 } = row ?? {}
      const value = id === notSet ? id : escaped(id)
      const filter = parameter(name, isExcluded ? `!${value.replace(/^\\!/, '!')}` : value)
      const expected = isExcluded
        ? [Number(totals.clicks) - clickCount, Number(totals.conversions) - conversionCount]
        : [clickCount, conversionCount]
      const listed = await Promise.all([
        clicks(`is_bot=false&is_test=false&${filter}`),
        conversions(`status=approved&${filter}`),
      ])
      expect([filter, listed.map(({ length }) => length)]).toEqual([filter, expected])
    }
  })

  it('of a range that starts before 1970 need no removed rows', async () => {
    const page = await api.read('/clicks?from=1960-01-01&limit=1', key, ClickPage)
    expect(page).not.toHaveProperty('retainedFrom')
  })

  it('select conversions by click, visitor, event and transaction', async () => {
    expect(await conversions('click_id=c4')).toEqual(['v4'])
    expect(await conversions('click_id=(not%20set)')).toHaveLength(11)
    expect((await conversions('visitor_id=visitor-9')).length).toBe(11)
    expect(await conversions('event_name=purchase,lead')).toHaveLength(35)
    expect(await conversions('event_name=Purchase')).toEqual([])
    const hundred = ['purchase', ...Array.from({ length: 99 }, (_, n) => `other${n}`)]
    expect(await conversions(`event_name=${hundred}`)).toEqual(await conversions('event_name=purchase'))
    expect(await conversions(parameter('transaction_id', 'tx\\,1,tx\\,2'))).toEqual(['v2', 'v1'])
    expect(await conversions(parameter('transaction_id', 'tx,1'))).toEqual([])
    expect((await conversions('transaction_id=(not%20set)')).length).toBe(6)
    expect((await conversions('transaction_id=!(not%20set)&include_test_mode=true')).length).toBe(30)
  })
})
